"""Calls user functions with a time limit."""

from __future__ import annotations

import ctypes
import inspect
import threading
from collections.abc import Callable
from typing import Any


class TimeLimitReached(Exception):
    """Raised inside a function that runs longer than its time limit."""


def call(function: Callable[..., Any], instance: Any, time_limit: float | None) -> Any:
    """Calls ``function(instance)``, with ``time_limit`` in seconds if the function has this parameter.

    After the limit, :class:`TimeLimitReached` is raised inside the function at its next Python instruction. A
    call of compiled code, such as an operation on large arrays, is not interrupted.
    """
    arguments = {"time_limit": time_limit} if _accepts(function, "time_limit") else {}
    if time_limit is None:
        return function(instance, **arguments)
    lock, thread = threading.Lock(), ctypes.c_ulong(threading.get_ident())
    running = True

    def raised(exception: Any) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, exception)

    def stop() -> None:
        with lock:
            if running:
                raised(ctypes.py_object(TimeLimitReached))

    timer = threading.Timer(time_limit, stop)
    timer.daemon = True
    try:
        timer.start()
        result = function(instance, **arguments)
        with lock:
            running = False
            # Clears an exception that is set but not yet raised.
            raised(None)
        return result
    except TimeLimitReached:
        raise TimeLimitReached(f"the function ran longer than its time limit of {time_limit:g} s") from None
    finally:
        with lock:
            running = False
        timer.cancel()


def _accepts(function: Callable[..., Any], name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
