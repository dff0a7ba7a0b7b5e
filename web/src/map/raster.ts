// Draws rectangles of a layout as pixels.

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

/** A part of a picture, in pixels: from `left` and `top` up to and without `right` and `low`. */
interface Part {
  left: number;
  top: number;
  right: number;
  low: number;
}

/** Where a camera is on the grid of pixels of its zoom. */
interface Grid {
  /** Pixels per step and per byte. */
  wide: number;
  tall: number;
  /** The pixels of the left and of the lower edge. */
  x: number;
  y: number;
}

/**
 * The picture of all rectangles. A camera that only moves keeps most of the picture: it is shifted, and only what
 * appears at its edges is drawn.
 */
export class Raster {
  private pixels = new Uint32Array(0);
  private image: ImageData | null = null;
  private grid: Grid = { wide: 0, tall: 0, x: 0, y: 0 };
  private drawn: unknown[] = [];

  constructor(private readonly all: Rectangles) {}

  /** Returns the picture with one colour per buffer, and borders where rectangles are large enough. */
  draw(width: number, height: number, camera: Camera, fill: Uint32Array, border: number, paper: number): ImageData {
    const [wide, tall] = [width / (camera.x1 - camera.x0), height / (camera.y1 - camera.y0)];
    const isSame = (own: number, other: number) => Math.abs(own - other) <= 1e-9 * other;
    const isMoved = isSame(wide, this.grid.wide) && isSame(tall, this.grid.tall);
    // Rounding errors of a moving camera must not change the grid.
    const grid = isMoved ? { ...this.grid } : { wide, tall, x: 0, y: 0 };
    grid.x = Math.round(camera.x0 * grid.wide);
    grid.y = Math.round(camera.y0 * grid.tall);
    const key = [width, height, fill, border, paper];
    const isKnown = isMoved && key.every((part, at) => part === this.drawn[at]);
    if (this.image?.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    const [right, up] = [grid.x - this.grid.x, grid.y - this.grid.y];
    this.grid = grid;
    this.drawn = key;
    if (!isKnown || Math.abs(right) >= width || Math.abs(up) >= height) {
      this.fill({ left: 0, top: 0, right: width, low: height }, fill, border, paper);
      return this.image;
    }
    const from = right - up * width;
    this.pixels.copyWithin(Math.max(0, -from), Math.max(0, from), this.pixels.length - Math.max(0, -from));
    const [left, top] = [right > 0 ? width - right : 0, up > 0 ? 0 : height + up];
    if (right !== 0) this.fill({ left, top: 0, right: left + Math.abs(right), low: height }, fill, border, paper);
    if (up !== 0) this.fill({ left: 0, top, right: width, low: top + Math.abs(up) }, fill, border, paper);
    return this.image;
  }

  /** Draws one part. Rectangles never overlap, so this takes time linear in their number and in the pixels. */
  private fill(part: Part, fill: Uint32Array, border: number, paper: number): void {
    const { pixels, grid, all } = this;
    const { lower, upper, bottom, top, owner } = all;
    const { width, height } = this.image!;
    for (let row = part.top; row < part.low; row++) pixels.fill(paper, row * width + part.left, row * width + part.right);
    // What the part shows, with a pixel more for rounding.
    const [x0, x1] = [(grid.x + part.left - 1) / grid.wide, (grid.x + part.right + 1) / grid.wide];
    const [y0, y1] = [(grid.y + height - part.low - 1) / grid.tall, (grid.y + height - part.top + 1) / grid.tall];
    const isDense = owner.length > DENSE;
    for (let at = 0; at < owner.length; at++) {
      if (upper[at] <= x0 || lower[at] >= x1 || top[at] <= y0 || bottom[at] >= y1) continue;
      const left = Math.round(lower[at] * grid.wide) - grid.x;
      const end = Math.round(upper[at] * grid.wide) - grid.x;
      if (isDense && end <= left) continue;
      const right = Math.max(left + 1, end);
      const high = height - Math.round(top[at] * grid.tall) + grid.y;
      const low = Math.max(high + 1, height - Math.round(bottom[at] * grid.tall) + grid.y);
      const [from, to] = [Math.max(part.left, left), Math.min(part.right, right)];
      const [first, last] = [Math.max(part.top, high), Math.min(part.low, low)];
      const isFramed = right - left > 3 && low - high > 3;
      const colour = fill[owner[at]];
      if (to - from === 1) {
        const side = isFramed && (from === left || from === right - 1) ? border : colour;
        for (let row = first; row < last; row++) pixels[row * width + from] = isFramed && (row === high || row === low - 1) ? border : side;
        continue;
      }
      if (to <= from) continue;
      for (let row = first; row < last; row++) {
        const start = row * width;
        if (isFramed && (row === high || row === low - 1)) {
          pixels.fill(border, start + from, start + to);
          continue;
        }
        pixels.fill(colour, start + from, start + to);
        if (isFramed && from === left) pixels[start + from] = border;
        if (isFramed && to === right) pixels[start + to - 1] = border;
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
