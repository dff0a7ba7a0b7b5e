// The page's side of the worker. One run is active at a time, and can be cancelled.

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
  private module: WebAssembly.Module | null = null;

  /** `packed` is the engine, compressed with gzip and encoded in base64. */
  constructor(private packed: string) {}

  /** Whether this page contains an engine. */
  get exists(): boolean {
    return this.module !== null || this.packed !== "";
  }

  /** Runs the command with these arguments on these files. */
  run(args: string[], files: Files, listen: (progress: Progress) => void): Run {
    const worker = (this.worker ??= new EngineWorker());
    let cancel = () => {};
    const answer = new Promise<Answer>((resolve, reject) => {
      const ask = (question: Question) => worker.postMessage(question);
      const stop = (error: Error) => {
        worker.terminate();
        if (this.worker === worker) this.worker = null;
        reject(error);
      };
      cancel = () => stop(new Cancelled("cancelled"));
      worker.onerror = (event) => stop(new Error(event.message));
      worker.onmessage = (event: MessageEvent<Reply>) => {
        const reply = event.data;
        if (reply.kind === "module") {
          this.module = reply.module;
          this.packed = "";
          ask({ kind: "run", module: reply.module, args, files });
        } else if (reply.kind === "progress") listen(reply.progress);
        else if (reply.kind === "answer") resolve(reply.answer);
        else stop(new Error(reply.message));
      };
      if (this.module) ask({ kind: "run", module: this.module, args, files });
      else ask({ kind: "unpack", packed: bytes(this.packed) });
    });
    return { answer, cancel };
  }
}

function bytes(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}
