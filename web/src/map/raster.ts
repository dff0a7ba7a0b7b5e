// Draws rectangles of a layout as pixels. Rectangles of one layout never overlap, so the time per frame is
// linear in the number of rectangles and pixels at any zoom.

/** The part of the plane that a map shows: steps to the right, bytes upwards. */
export interface Camera {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

/** Rectangles, one per buffer and part of its lifespan. */
export interface Rectangles {
  lower: Float64Array;
  upper: Float64Array;
  bottom: Float64Array;
  top: Float64Array;
  /** The index of the buffer. */
  owner: Int32Array;
}

/** In a map of more rectangles than this, those that round to a width of zero pixels are not drawn. */
const DENSE = 20_000;

/** Draws rectangles with one colour per buffer, and borders where they are large enough. */
export function raster(
  pixels: Uint32Array,
  width: number,
  height: number,
  all: Rectangles,
  camera: Camera,
  fill: Uint32Array,
  border: number,
): void {
  const { lower, upper, bottom, top, owner } = all;
  const { x0, x1, y0, y1 } = camera;
  const [wide, tall] = [width / (x1 - x0), height / (y1 - y0)];
  const isDense = owner.length > DENSE;
  for (let at = 0; at < owner.length; at++) {
    if (upper[at] <= x0 || lower[at] >= x1 || top[at] <= y0 || bottom[at] >= y1) continue;
    const left = Math.max(0, Math.round((lower[at] - x0) * wide));
    const end = Math.round((upper[at] - x0) * wide);
    if (isDense && end <= left) continue;
    const right = Math.min(width, Math.max(left + 1, end));
    const high = Math.max(0, Math.round(height - (top[at] - y0) * tall));
    const low = Math.min(height, Math.max(high + 1, Math.round(height - (bottom[at] - y0) * tall)));
    const colour = fill[owner[at]];
    if (right - left === 1) {
      for (let at = high * width + left; at < low * width; at += width) pixels[at] = colour;
      continue;
    }
    const framed = right - left > 3 && low - high > 3;
    for (let row = high; row < low; row++) {
      const from = row * width;
      if (framed && (row === high || row === low - 1)) pixels.fill(border, from + left, from + right);
      else {
        pixels.fill(colour, from + left, from + right);
        if (framed) pixels[from + left] = pixels[from + right - 1] = border;
      }
    }
  }
}

/** Returns the index of the rectangle at a point, or -1. */
export function hit(all: Rectangles, x: number, y: number): number {
  const { lower, upper, bottom, top, owner } = all;
  for (let at = 0; at < owner.length; at++) {
    if (lower[at] <= x && x < upper[at] && bottom[at] <= y && y < top[at]) return at;
  }
  return -1;
}
