// PNG pictures with a palette. They are a third as large as Chromium's screenshots.

import { crc32, deflateSync } from "node:zlib";
import type { Page } from "playwright-core";

/** Decodes a picture in the page. */
const PIXELS = `async (data) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  return { width: image.width, height: image.height, pixels: [...new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer)] };
}`;

const parts = (pixel: number) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];

/** Returns the picture with its 256 most frequent colours; the others become the nearest of these. */
export async function indexed(page: Page, png: Buffer): Promise<Buffer> {
  const { width, height, pixels } = (await page.evaluate(`(${PIXELS})("${png.toString("base64")}")`)) as { width: number; height: number; pixels: number[] };
  const counts = new Map<number, number>();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const all = [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)! || a - b);
  const palette = all.slice(0, 256).map(parts);
  const distance = (a: number[], b: number[]) => a.reduce((sum, part, at) => sum + (part - b[at]) ** 2, 0);
  const index = new Map(all.map((pixel) => {
    const own = parts(pixel);
    const far = palette.map((colour) => distance(colour, own));
    return [pixel, far.indexOf(Math.min(...far))];
  }));
  // Each row starts with the number of its filter; 0 means no filter.
  const rows = Buffer.alloc((width + 1) * height);
  pixels.forEach((pixel, at) => (rows[at + Math.floor(at / width) + 1] = index.get(pixel)!));
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // The bit depth is 8, and colour type 3 means a palette.
  head.set([8, 3], 8);
  const chunk = (kind: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(kind), data]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  };
  const start = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([start, chunk("IHDR", head), chunk("PLTE", Buffer.from(palette.flat())), chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}
