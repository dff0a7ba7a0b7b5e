// A map of one layout on a canvas: live bytes over time above, addresses below.

import { indexAt, type Layout, type View } from "../model/view";
import { exact, short } from "../model/units";
import { css, mixed, parsed, pixel, type Rgb } from "./colours";
import { Raster, type Camera, type Rectangles } from "./raster";

/** Space for the numbers left of the map, the live bytes above it and the steps below it, in CSS pixels. */
export const LEFT = 58;
export const PROFILE = 72;
const BOTTOM = 22;
const GAP = 8;
/** Maximum number of rectangles with names. */
const MOST_NAMES = 400;

/** What is highlighted. */
export interface Focus {
  /** The step that the table shows. */
  step: number;
  selected: number;
  hovered: number;
  /** Buffers found by the search, or `null` without a search. */
  found: Uint8Array | null;
  /** Whether the reason for the bound is highlighted. */
  lit: boolean;
}

export const NO_FOCUS: Focus = { step: 0, selected: -1, hovered: -1, found: null, lit: false };

export function rectangles(view: View, layout: Layout): Rectangles {
  const count = view.buffers.reduce((sum, { size, parts }) => sum + (size > 0 ? parts.length : 0), 0);
  const column = () => new Float64Array(count);
  const all: Rectangles = { lower: column(), upper: column(), bottom: column(), top: column(), owner: new Int32Array(count) };
  let next = 0;
  view.buffers.forEach(({ size, parts }, owner) => {
    if (size === 0) return;
    for (const [lower, upper] of parts) {
      all.lower[next] = lower;
      all.upper[next] = upper;
      all.bottom[next] = layout.offsets[owner];
      all.top[next] = layout.offsets[owner] + size;
      all.owner[next++] = owner;
    }
  });
  return all;
}

/** The camera that shows everything up to `high` bytes. */
export function whole(view: View, high: number): Camera {
  const { steps } = view.load;
  const [x0, x1] = steps.length > 0 ? [steps[0], steps[steps.length - 1]] : [0, 1];
  return { x0, x1: Math.max(x1, x0 + 1), y0: 0, y1: Math.max(high, 1) * 1.03 };
}

const theme = () => {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => parsed(style.getPropertyValue(name));
  return {
    paper: colour("--sheet"), ink: colour("--ink"), faint: colour("--faint"), live: colour("--live"),
    peak: colour("--peak"), bound: colour("--bound"), capacity: colour("--capacity"),
  };
};

export class Plot {
  private readonly context: CanvasRenderingContext2D;
  private readonly all: Rectangles;
  private readonly raster: Raster;
  private strip: ImageData | null = null;
  private width = 1;
  private height = 1;
  private scale = 1;
  private cached: { key: unknown[]; fill: Uint32Array } = { key: [], fill: new Uint32Array() };

  constructor(private readonly canvas: HTMLCanvasElement, readonly view: View, readonly layout: Layout) {
    this.context = canvas.getContext("2d")!;
    this.all = rectangles(view, layout);
    this.raster = new Raster(this.all);
  }

  get rectangles(): Rectangles {
    return this.all;
  }

  /** The size of the map without its margins, in CSS pixels. */
  get inner(): { width: number; height: number } {
    return { width: Math.max(1, this.width - LEFT - 6), height: Math.max(1, this.height - PROFILE - GAP - BOTTOM) };
  }

  /** Returns the step and the address at a point of the canvas. */
  at(camera: Camera, x: number, y: number): { step: number; address: number; inProfile: boolean } {
    const { width, height } = this.inner;
    const step = camera.x0 + ((x - LEFT) / width) * (camera.x1 - camera.x0);
    const address = camera.y1 - ((y - PROFILE - GAP) / height) * (camera.y1 - camera.y0);
    return { step, address, inProfile: y < PROFILE + GAP };
  }

  fit(): void {
    const box = this.canvas.getBoundingClientRect();
    this.scale = Math.min(window.devicePixelRatio || 1, 2);
    [this.width, this.height] = [box.width, box.height];
    this.canvas.width = Math.max(1, Math.round(box.width * this.scale));
    this.canvas.height = Math.max(1, Math.round(box.height * this.scale));
  }

  draw(camera: Camera, colours: Rgb[], focus: Focus): void {
    const ground = theme();
    const { context, scale } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = css(ground.paper);
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const { width, height } = this.inner;
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    const strong = this.strong(focus);
    const fill = this.filled(colours, strong, ground.paper, focus);
    const image = this.raster.draw(w, h, camera, fill, pixel(mixed(ground.ink, ground.paper, 0.35)), pixel(ground.paper));
    context.putImageData(image, Math.round(LEFT * scale), Math.round((PROFILE + GAP) * scale));
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = "11px system-ui, sans-serif";
    this.names(camera, colours, strong, ground);
    this.axes(camera, ground);
    this.profile(camera, ground);
    this.lines(camera, focus, ground);
    this.outlines(camera, focus, ground);
  }

  /** Returns the pixel value of each buffer. It changes only with colours, search and theme. */
  private filled(colours: Rgb[], strong: ((at: number) => boolean) | null, paper: Rgb, focus: Focus): Uint32Array {
    const key = [colours, focus.found, focus.lit, paper.join()];
    if (!key.every((part, at) => this.cached.key[at] === part)) {
      const colour = (own: Rgb, at: number) => pixel(strong && !strong(at) ? mixed(own, paper, 0.82) : own);
      this.cached = { key, fill: Uint32Array.from(colours, colour) };
    }
    return this.cached.fill;
  }

  /** Returns which buffers keep their colour while the others fade, or `null` if all keep it. */
  private strong(focus: Focus): ((at: number) => boolean) | null {
    if (focus.found) return (at) => focus.found![at] === 1;
    if (!focus.lit) return null;
    const { step, window, buffers } = this.view.bound.reason;
    if (buffers) {
      const set = new Set(buffers);
      return (at) => set.has(at);
    }
    const [from, to] = window ?? (step === undefined ? [NaN, NaN] : [step, step + 1]);
    if (Number.isNaN(from)) return null;
    return (at) => this.view.buffers[at].parts.some(([lower, upper]) => lower < to && from < upper);
  }

  private x(camera: Camera, step: number): number {
    return LEFT + ((step - camera.x0) / (camera.x1 - camera.x0)) * this.inner.width;
  }

  private y(camera: Camera, address: number): number {
    return PROFILE + GAP + ((camera.y1 - address) / (camera.y1 - camera.y0)) * this.inner.height;
  }

  private clipped(top: number, high: number, draw: () => void): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(LEFT, top, this.inner.width, high);
    context.clip();
    draw();
    context.restore();
  }

  private names(camera: Camera, colours: Rgb[], strong: ((at: number) => boolean) | null, ground: ReturnType<typeof theme>): void {
    const { context, all } = this;
    context.textBaseline = "middle";
    context.textAlign = "center";
    let named = 0;
    const { width, height } = this.inner;
    const [least, lowest] = [(26 / width) * (camera.x1 - camera.x0), (13 / height) * (camera.y1 - camera.y0)];
    for (let at = 0; at < all.owner.length && named < MOST_NAMES; at++) {
      if (all.upper[at] - all.lower[at] < least || all.top[at] - all.bottom[at] < lowest) continue;
      const [left, right] = [Math.max(LEFT, this.x(camera, all.lower[at])), Math.min(LEFT + this.inner.width, this.x(camera, all.upper[at]))];
      const [high, low] = [Math.max(PROFILE + GAP, this.y(camera, all.top[at])), Math.min(this.height - BOTTOM, this.y(camera, all.bottom[at]))];
      if (right - left < 26 || low - high < 13) continue;
      const owner = all.owner[at];
      const letters = Math.floor((right - left - 6) / 6.2);
      const { id } = this.view.buffers[owner];
      const text = id.length <= letters ? id : letters > 4 ? `…${id.slice(1 - letters)}` : "";
      if (text === "") continue;
      const [red, green, blue] = colours[owner];
      const isLight = 0.3 * red + 0.59 * green + 0.11 * blue > 120;
      context.fillStyle = strong && !strong(owner) ? css(ground.faint) : isLight ? "#111" : "#fff";
      context.fillText(text, (left + right) / 2, (high + low) / 2);
      named += 1;
    }
  }

  private axes(camera: Camera, ground: ReturnType<typeof theme>): void {
    const { context } = this;
    context.fillStyle = css(ground.ink);
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of ticks(camera.y0, camera.y1, this.inner.height / 48, 2)) {
      context.fillText(short(value), LEFT - 6, this.y(camera, value));
    }
    context.textBaseline = "alphabetic";
    context.textAlign = "center";
    for (const value of ticks(camera.x0, camera.x1, this.inner.width / 110)) {
      context.fillText(exact(value), Math.min(Math.max(this.x(camera, value), LEFT + 12), this.width - 30), this.height - 7);
    }
    context.strokeStyle = css(ground.faint);
    context.lineWidth = 1;
    context.strokeRect(LEFT - 0.5, PROFILE + GAP - 0.5, this.inner.width + 1, this.inner.height + 1);
  }

  private profile(camera: Camera, ground: ReturnType<typeof theme>): void {
    const { context, view, scale } = this;
    const { load } = view;
    const high = Math.max(load.peak, 1);
    const columns = Math.round(this.inner.width * scale);
    const tall = Math.round((PROFILE - 14) * scale);
    if (this.strip?.width !== columns || this.strip.height !== tall) this.strip = new ImageData(columns, tall);
    const pixels = new Uint32Array(this.strip.data.buffer);
    pixels.fill(pixel(ground.paper));
    const colour = pixel(ground.live);
    const wide = (camera.x1 - camera.x0) / columns;
    // Each column of pixels shows the highest value in it, so that no spike disappears.
    let from = Math.max(0, indexAt(load, camera.x0));
    for (let column = 0; column < columns; column++) {
      const [start, end] = [camera.x0 + column * wide, camera.x0 + (column + 1) * wide];
      while (from + 1 < load.steps.length && load.steps[from + 1] <= start) from += 1;
      let most = load.steps[from] <= start ? load.bytes[from] : 0;
      for (; from < load.steps.length && load.steps[from] < end; from++) {
        if (load.steps[from] >= start) most = Math.max(most, load.bytes[from]);
      }
      from = Math.max(0, from - 1);
      for (let row = tall - Math.round((most / high) * tall); row < tall; row++) pixels[row * columns + column] = colour;
    }
    context.putImageData(this.strip, Math.round(LEFT * scale), Math.round(14 * scale));
    context.fillStyle = css(ground.ink);
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText(short(load.peak), LEFT - 6, 14);
    context.fillText("live", LEFT - 6, PROFILE - 6);
  }

  private lines(camera: Camera, focus: Focus, ground: ReturnType<typeof theme>): void {
    const { context, view } = this;
    const { reason, value } = view.bound;
    const high = PROFILE + GAP + this.inner.height;
    const across = (bytes: number, colour: Rgb, dash: number[]) => {
      context.strokeStyle = css(colour);
      context.setLineDash(dash);
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(LEFT, this.y(camera, bytes));
      context.lineTo(LEFT + this.inner.width, this.y(camera, bytes));
      context.stroke();
      context.setLineDash([]);
    };
    this.clipped(PROFILE + GAP, this.inner.height, () => {
      if (view.capacity !== null) across(view.capacity, ground.capacity, [2, 3]);
      across(this.layout.peak, ground.peak, []);
      across(value, ground.bound, [6, 4]);
    });
    this.clipped(0, high, () => {
      const lit = reason.window ?? (reason.step === undefined ? null : [reason.step, reason.step + 1]);
      if (focus.lit && lit) {
        const [from, to] = [this.x(camera, lit[0]), this.x(camera, lit[1])];
        context.fillStyle = css(ground.bound);
        context.globalAlpha = 0.25;
        context.fillRect(from, 0, Math.max(3, to - from), high);
        context.globalAlpha = 1;
      }
      const x = this.x(camera, focus.step) + Math.min(3, (this.x(camera, focus.step + 1) - this.x(camera, focus.step)) / 2);
      context.strokeStyle = css(ground.peak);
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, high);
      context.stroke();
    });
  }

  private outlines(camera: Camera, focus: Focus, ground: ReturnType<typeof theme>): void {
    const { context, view, layout } = this;
    this.clipped(PROFILE + GAP, this.inner.height, () => {
      for (const [at, width] of [[focus.hovered, 1.5], [focus.selected, 3]]) {
        const buffer = view.buffers[at];
        if (!buffer) continue;
        context.strokeStyle = css(ground.ink);
        context.lineWidth = width;
        for (const [lower, upper] of buffer.parts) {
          const [left, top] = [this.x(camera, lower), this.y(camera, layout.offsets[at] + buffer.size)];
          const [right, low] = [this.x(camera, upper), this.y(camera, layout.offsets[at])];
          context.strokeRect(left, top, Math.max(1, right - left), Math.max(1, low - top));
        }
      }
    });
  }
}

/** Returns about `count` round numbers in a range: multiples of a power of `base`. */
export function ticks(from: number, to: number, count: number, base = 10): number[] {
  const raw = Math.max(1, (to - from) / Math.max(1, count));
  const power = base ** Math.floor(Math.log(raw) / Math.log(base) + 1e-9);
  const step = (base === 2 ? [1, 2] : [1, 2, 5, 10]).map((factor) => factor * power).find((one) => one >= raw) ?? raw;
  const first = Math.ceil(from / step) * step;
  // Adding a step to a very large number may not change it, so the numbers are counted.
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, at) => first + at * step);
}
