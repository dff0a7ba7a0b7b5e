// Links that contain small instances in their fragment, which is not sent to servers.

import type { Settings } from "./ask";

/** Longer links break in some programs. */
const MOST_LETTERS = 8000;

export interface Shared {
  name: string;
  /** The file in base64. */
  data: string;
  settings: Settings;
}

async function through(data: Uint8Array, stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  return new Uint8Array(await new Response(new Blob([data as BlobPart]).stream().pipeThrough(stream)).arrayBuffer());
}

export function base64(data: Uint8Array): string {
  let text = "";
  for (let at = 0; at < data.length; at += 0x8000) text += String.fromCharCode(...data.subarray(at, at + 0x8000));
  return btoa(text);
}

export const decoded = (text: string): Uint8Array => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** Returns the fragment, or `null` if it would be too long. */
export async function fragment(shared: Shared): Promise<string | null> {
  const packed = await through(new TextEncoder().encode(JSON.stringify(shared)), new CompressionStream("gzip"));
  const text = base64(packed).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return text.length > MOST_LETTERS ? null : `#${text}`;
}

/** Reads a fragment. Returns `null` if it is empty or not from a link of this page. */
export async function shared(fragment: string): Promise<Shared | null> {
  if (fragment.length < 2) return null;
  try {
    const packed = decoded(fragment.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    const text = new TextDecoder().decode(await through(packed, new DecompressionStream("gzip")));
    const found = JSON.parse(text) as Shared;
    return typeof found.name === "string" && typeof found.data === "string" ? found : null;
  } catch {
    return null;
  }
}
