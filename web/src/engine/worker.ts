// The worker in which the engine runs, so that the page stays responsive.

import { run, type Answer, type Files, type Progress } from "./run";

/** A request of the page: unpack the engine, or run it. */
export type Question =
  | { kind: "unpack"; packed: string }
  | { kind: "run"; module: WebAssembly.Module; args: string[]; files: Files };

/** A message of the worker. */
export type Reply =
  | { kind: "module"; module: WebAssembly.Module }
  | { kind: "progress"; progress: Progress }
  | { kind: "answer"; answer: Answer }
  | { kind: "failure"; message: string };

const post = (reply: Reply) => postMessage(reply);

async function unpack(packed: string): Promise<WebAssembly.Module> {
  const letters = atob(packed);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** Minimum time between two reports of progress, in milliseconds. */
const PAUSE = 50;

async function serve(question: Question): Promise<void> {
  if (question.kind === "unpack") {
    post({ kind: "module", module: await unpack(question.packed) });
    return;
  }
  let last = 0;
  const listen = (progress: Progress) => {
    const now = performance.now();
    if (now - last < PAUSE) return;
    last = now;
    post({ kind: "progress", progress });
  };
  post({ kind: "answer", answer: run(question.module, question.args, question.files, listen) });
}

onmessage = (event: MessageEvent<Question>) => {
  serve(event.data).catch((error: unknown) => {
    post({ kind: "failure", message: error instanceof Error ? error.message : String(error) });
  });
};
