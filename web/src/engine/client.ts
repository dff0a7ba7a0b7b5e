// The page's interface to the worker. At most one run is active at a time, and it can be cancelled.

import type { Answer, Files, Progress } from "./run";
import type { Question, Reply } from "./worker";
import EngineWorker from "./worker?worker&inline";

export class Cancelled extends Error {}

/** A run that has started. */
export interface Run {
  answer: Promise<Answer>;
  cancel: () => void;
}

export class Engine {
  private worker: Worker | null = null;
  private module: Promise<WebAssembly.Module> | null = null;
  /** Whether this page contains an engine. */
  readonly exists: boolean;

  /** `packed` is the engine, compressed with gzip and encoded in base64. */
  constructor(private packed: string) {
    this.exists = packed !== "";
  }

  /** Compiles the engine, once for all runs. */
  prepare(): Promise<WebAssembly.Module> {
    return (this.module ??= new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        this.module = null;
        reject(error);
      };
      const worker = this.started(fail);
      worker.onmessage = ({ data: reply }: MessageEvent<Reply>) => {
        if (reply.kind === "module") {
          this.packed = "";
          resolve(reply.module);
        } else if (reply.kind === "failure") fail(new Error(reply.message));
      };
      ask(worker, { kind: "unpack", packed: this.packed });
    }));
  }

  /** Runs the command with these arguments on these files. */
  run(args: string[], files: Files, listen: (progress: Progress) => void): Run {
    let cancel = () => {};
    const answer = new Promise<Answer>((resolve, reject) => {
      let isCancelled = false;
      const stop = (error: Error) => {
        isCancelled = true;
        reject(error);
      };
      // Compilation of the engine continues after a cancellation, because the next run needs the engine too.
      cancel = () => stop(new Cancelled("cancelled"));
      this.prepare().then((module) => {
        if (isCancelled) return;
        const end = (error: Error) => {
          this.worker?.terminate();
          this.worker = null;
          stop(error);
        };
        const worker = this.started(end);
        cancel = () => end(new Cancelled("cancelled"));
        worker.onmessage = ({ data: reply }: MessageEvent<Reply>) => {
          if (reply.kind === "progress") listen(reply.progress);
          else if (reply.kind === "answer") resolve(reply.answer);
          else if (reply.kind === "failure") end(new Error(reply.message));
        };
        ask(worker, { kind: "run", module, args, files });
      }, stop);
    });
    return { answer, cancel: () => cancel() };
  }

  private started(fail: (error: Error) => void): Worker {
    const worker = (this.worker ??= new EngineWorker());
    worker.onerror = (event) => fail(new Error(event.message));
    return worker;
  }
}

const ask = (worker: Worker, question: Question) => worker.postMessage(question);
