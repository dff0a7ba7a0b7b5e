// One or two maps, which share the camera, the selection and the step.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { qualitative, sequential, type Rgb, type Scheme } from "../map/colours";
import { Plot, LEFT, PROFILE, whole, type Focus } from "../map/plot";
import { hit, type Camera } from "../map/raster";
import { bytes, exact, short } from "../model/units";
import { slack, type Layout, type View } from "../model/view";
import { brief } from "./state";

/** Colours per buffer. */
export function useColours(view: View, scheme: Scheme): Rgb[] {
  return useMemo(() => {
    if (scheme === "size") {
      const most = Math.log(view.buffers.reduce((most, buffer) => Math.max(most, buffer.size), 2));
      return view.buffers.map((buffer) => sequential(Math.log(Math.max(1, buffer.size)) / most));
    }
    if (scheme === "slack") {
      const all = slack(view);
      return view.buffers.map((_, at) => sequential(1 - all[at] / Math.max(1, view.load.peak)));
    }
    const kinds = [...new Set(view.buffers.map((buffer) => buffer.kind))];
    const index = new Map(kinds.map((kind, at) => [kind, at]));
    return view.buffers.map((buffer, at) => (kinds.length > 1 ? qualitative(index.get(buffer.kind)!, at) : qualitative(at, Math.floor(at / 8))));
  }, [view, scheme]);
}

interface Props {
  view: View;
  scheme: Scheme;
  focus: Focus;
  change: (part: Partial<Focus>) => void;
  /** Whether the wheel zooms only while the map has the focus, so that long pages can be scrolled. */
  isLazy?: boolean;
}

export function Maps({ view, scheme, focus, change, isLazy = false }: Props) {
  const colours = useColours(view, scheme);
  const high = Math.max(...view.layouts.map((layout) => layout.peak), view.bound.value);
  const [camera, move] = useState<Camera>(() => whole(view, high));
  useEffect(() => move(whole(view, high)), [view]);
  return (
    <div class={`maps count-${view.layouts.length}`}>
      {view.layouts.map((layout) => (
        <One key={layout.name} view={layout.own ?? view} {...{ layout, colours, camera, change, high, isLazy }} move={move}
          focus={layout.own ? { ...focus, step: layout.own.load.step } : focus} />
      ))}
    </div>
  );
}

interface OneProps extends Omit<Props, "scheme"> {
  layout: Layout;
  colours: Rgb[];
  camera: Camera;
  move: (camera: Camera) => void;
  high: number;
}

/** Scales a camera about a point; factors below 1 zoom in. */
function scaled(camera: Camera, x: number, y: number, wide: number, tall: number): Camera {
  return {
    x0: x - (x - camera.x0) * wide,
    x1: x + (camera.x1 - x) * wide,
    y0: y - (y - camera.y0) * tall,
    y1: y + (camera.y1 - y) * tall,
  };
}

/** Keeps a camera close to the contents of the map. */
function bounded(camera: Camera, all: Camera): Camera {
  const [wide, tall] = [all.x1 - all.x0, all.y1 - all.y0];
  const width = Math.min(Math.max(camera.x1 - camera.x0, Math.min(wide, 2)), wide * 1.2);
  const height = Math.min(Math.max(camera.y1 - camera.y0, Math.min(tall, 8)), tall * 1.2);
  const x0 = Math.min(Math.max(camera.x0, all.x0 - 0.1 * wide), all.x1 + 0.1 * wide - width);
  const y0 = Math.min(Math.max(camera.y0, all.y0 - 0.1 * tall), all.y1 + 0.1 * tall - height);
  return { x0, x1: x0 + width, y0, y1: y0 + height };
}

function One({ view, layout, colours, camera, move, focus, change, high, isLazy }: OneProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const plot = useRef<Plot | null>(null);
  const frame = useRef(0);
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const travelled = useRef(0);
  const [tip, show] = useState<{ x: number; y: number; at: number } | null>(null);
  const all = useMemo(() => whole(view, high), [view, high]);
  const latest = useRef({ camera, colours, focus });
  latest.current = { camera, colours, focus };
  /** Draws the latest state in the next frame. */
  const draw = () => {
    if (frame.current !== 0) return;
    frame.current = requestAnimationFrame(() => {
      frame.current = 0;
      const { camera, colours, focus } = latest.current;
      if (colours.length === view.buffers.length) plot.current?.draw(camera, colours, focus);
    });
  };
  useEffect(() => {
    plot.current = new Plot(canvas.current!, view, layout);
    const fit = () => {
      plot.current!.fit();
      draw();
    };
    const observer = new ResizeObserver(fit);
    observer.observe(canvas.current!);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    fit();
    return () => {
      observer.disconnect();
      dark.removeEventListener("change", draw);
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
  }, [view, layout]);
  // Draws before the next frame, not after it.
  useLayoutEffect(draw, [camera, colours, focus]);
  useEffect(() => {
    const wheel = (event: WheelEvent) => {
      if (isLazy && !event.ctrlKey && document.activeElement !== canvas.current) return;
      event.preventDefault();
      const { x, y } = local(event);
      const { step, address } = plot.current!.at(latest.current.camera, x, y);
      const factor = Math.exp(Math.min(Math.max(event.deltaY, -200), 200) * 0.002);
      move(bounded(scaled(latest.current.camera, step, address, factor, event.shiftKey ? 1 : factor), all));
    };
    const target = canvas.current!;
    target.addEventListener("wheel", wheel, { passive: false });
    return () => target.removeEventListener("wheel", wheel);
  }, [view, all, isLazy]);

  const local = (event: { clientX: number; clientY: number }) => {
    const box = canvas.current!.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const under = (x: number, y: number) => {
    const { step, address, inProfile } = plot.current!.at(camera, x, y);
    const rectangle = inProfile || x < LEFT ? -1 : hit(plot.current!.rectangles, step, address);
    return { step, inProfile, buffer: rectangle < 0 ? -1 : plot.current!.rectangles.owner[rectangle] };
  };
  const down = (event: PointerEvent) => {
    canvas.current!.setPointerCapture(event.pointerId);
    pointers.current.set(event.pointerId, local(event));
    travelled.current = 0;
  };
  const over = (event: PointerEvent) => {
    const now = local(event);
    const before = pointers.current.get(event.pointerId);
    if (!before) {
      const { buffer } = under(now.x, now.y);
      show(buffer < 0 ? null : { ...now, at: buffer });
      if (buffer !== focus.hovered) change({ hovered: buffer });
      return;
    }
    const others = [...pointers.current].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    pointers.current.set(event.pointerId, now);
    travelled.current += Math.hypot(now.x - before.x, now.y - before.y);
    const { width, height } = plot.current!.inner;
    const [wide, tall] = [(camera.x1 - camera.x0) / width, (camera.y1 - camera.y0) / height];
    if (others.length === 0) {
      const [dx, dy] = [(before.x - now.x) * wide, (now.y - before.y) * tall];
      move(bounded({ x0: camera.x0 + dx, x1: camera.x1 + dx, y0: camera.y0 + dy, y1: camera.y1 + dy }, all));
    } else {
      const [a, b] = [Math.hypot(before.x - others[0].x, before.y - others[0].y), Math.hypot(now.x - others[0].x, now.y - others[0].y)];
      const { step, address } = plot.current!.at(camera, (now.x + others[0].x) / 2, (now.y + others[0].y) / 2);
      move(bounded(scaled(camera, step, address, a / Math.max(b, 1), a / Math.max(b, 1)), all));
    }
    show(null);
  };
  const up = (event: PointerEvent) => {
    const wasDown = pointers.current.delete(event.pointerId);
    if (!wasDown || travelled.current > 4) return;
    const now = local(event);
    const { step, inProfile, buffer } = under(now.x, now.y);
    if (inProfile) change({ step: Math.max(0, Math.floor(step)) });
    else change({ selected: buffer === focus.selected ? -1 : buffer });
  };
  const leave = () => {
    show(null);
    if (focus.hovered >= 0) change({ hovered: -1 });
  };
  const key = (event: KeyboardEvent) => {
    const [wide, tall] = [(camera.x1 - camera.x0) / 8, (camera.y1 - camera.y0) / 8];
    const moved = (dx: number, dy: number) => bounded({ x0: camera.x0 + dx, x1: camera.x1 + dx, y0: camera.y0 + dy, y1: camera.y1 + dy }, all);
    const zoomed = (factor: number) => bounded(scaled(camera, (camera.x0 + camera.x1) / 2, (camera.y0 + camera.y1) / 2, factor, factor), all);
    const actions: Record<string, () => void> = {
      ArrowLeft: () => move(moved(-wide, 0)),
      ArrowRight: () => move(moved(wide, 0)),
      ArrowUp: () => move(moved(0, tall)),
      ArrowDown: () => move(moved(0, -tall)),
      "+": () => move(zoomed(1 / 1.5)),
      "=": () => move(zoomed(1 / 1.5)),
      "-": () => move(zoomed(1.5)),
      "0": () => move(all),
      Escape: () => change({ selected: -1 }),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    action();
  };
  const label = `Memory map of the layout ${layout.name}: ${exact(view.buffers.length)} buffers, peak ${bytes(layout.peak)}. ` +
    "Arrow keys move, plus and minus zoom, 0 shows everything. The table below lists the buffers.";
  return (
    <figure class="map">
      <figcaption>
        <strong>{layout.name}</strong> peak {bytes(layout.peak)}
        {layout.own ? "" : layout.peak > view.bound.value ? `, ${exact(layout.peak - view.bound.value)} above the bound` : ", as low as possible"}
      </figcaption>
      <div class="frame">
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          aria-label={label}
          onPointerDown={down}
          onPointerMove={over}
          onPointerUp={up}
          onPointerCancel={(event) => pointers.current.delete(event.pointerId)}
          onPointerLeave={leave}
          onDblClick={() => move(all)}
          onKeyDown={key}
        />
        <div class="zoom">
          <button type="button" aria-label={`Zoom in on ${layout.name}`} onClick={() => key(new KeyboardEvent("keydown", { key: "+" }))}>+</button>
          <button type="button" aria-label={`Zoom out of ${layout.name}`} onClick={() => key(new KeyboardEvent("keydown", { key: "-" }))}>−</button>
          <button type="button" aria-label={`Show all of ${layout.name}`} onClick={() => move(all)}>⤢</button>
        </div>
        {tip && <Tip {...tip} view={view} layout={layout} narrow={(canvas.current?.clientWidth ?? 0) - tip.x < 240} />}
      </div>
    </figure>
  );
}

function Tip({ x, y, at, view, layout, narrow }: { x: number; y: number; at: number; view: View; layout: Layout; narrow: boolean }) {
  const buffer = view.buffers[at];
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { style } = box.current!;
    style.left = narrow ? "auto" : `${x + 14}px`;
    style.right = narrow ? `calc(100% - ${x - 14}px)` : "auto";
    style.top = `${Math.max(PROFILE, y - 20)}px`;
  });
  const live = buffer.parts.slice(0, 3).map(([lower, upper]) => `${exact(lower)}–${exact(upper)}`).join(", ");
  return (
    <div class="tip" ref={box} role="presentation">
      <strong>{brief(buffer.id)}</strong>
      <span>{bytes(buffer.size)} at {short(layout.offsets[at])} ({exact(layout.offsets[at])})</span>
      <span>live in steps {live}{buffer.parts.length > 3 ? ", …" : ""}</span>
      {buffer.operator && <span>written by {brief(buffer.operator)}</span>}
    </div>
  );
}
