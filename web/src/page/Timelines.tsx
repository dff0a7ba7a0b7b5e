// Timelines of weight transfers on a machine, with sliders for memory, bandwidth and buffers.

import { useEffect, useRef, useState } from "preact/hooks";
import { Cancelled } from "../engine/client";
import { overlapped, type Ask, type Overlapped } from "../model/ask";
import type { Source } from "../model/source";
import { short } from "../model/units";

/** `own` is a machine whose bandwidth is set by the slider. */
const MACHINES = ["generic", "luna", "ethos-u", "own"];
const PATIENCE = 250;

const seconds = (value: number): string => {
  const units: [number, string][] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]];
  const [unit, name] = units.find(([unit]) => value >= unit) ?? units[2];
  return `${Number((value / unit).toPrecision(4))} ${name}`;
};

/** Returns a machine file with this memory and bandwidth, in bytes and bytes per second. */
const machine = (capacity: number, bandwidth: number) => `name = "own"
[memory]
capacity = ${capacity}
[dma]
channels = 1
startup = 1e-6
bandwidth = ${bandwidth}
[compute]
macs_per_second = 1e11
bytes_per_second = 1e10
`;

export function Timelines({ source, ask, shapes }: { source: Source; ask: Ask; shapes: string[] }) {
  const [name, setName] = useState("generic");
  const [memory, setMemory] = useState(25);
  const [bandwidth, setBandwidth] = useState(30);
  const [buffers, setBuffers] = useState(3);
  const [isOpen, setOpen] = useState(false);
  const [found, setFound] = useState<Overlapped | null>(null);
  const [error, setError] = useState("");
  const [picture, setPicture] = useState("");
  const asked = useRef(0);
  const capacity = 2 ** memory;
  const rate = 2 ** bandwidth;
  useEffect(() => {
    if (!isOpen) return;
    const mine = ++asked.current;
    const timer = setTimeout(() => {
      const own = name === "own" ? machine(capacity, rate) : null;
      overlapped(ask, source, { machine: own ?? name, isFile: own !== null, capacity, buffers, shapes }).then((found) => {
        if (mine !== asked.current) return;
        setFound(found);
        setError("");
      }, (error: unknown) => {
        if (mine !== asked.current || error instanceof Cancelled) return;
        setError(error instanceof Error ? error.message : String(error));
      });
    }, PATIENCE);
    return () => clearTimeout(timer);
  }, [isOpen, source, name, memory, bandwidth, buffers]);
  useEffect(() => {
    if (!found?.gantt) return setPicture("");
    const url = URL.createObjectURL(new Blob([found.gantt as BlobPart], { type: "image/svg+xml" }));
    setPicture(url);
    return () => URL.revokeObjectURL(url);
  }, [found]);
  const slider = (id: string, label: string, value: number, min: number, max: number, text: string, set: (value: number) => void) => (
    <div class="slider">
      <label for={id}>{label}: {text}</label>
      <input id={id} type="range" min={min} max={max} value={value} aria-valuetext={text} onInput={(event) => set(Number(event.currentTarget.value))} />
    </div>
  );
  return (
    <details class="timelines" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Timelines of weight transfers</summary>
      <div class="sliders">
        <div class="slider">
          <label for="machine">Machine</label>
          <select id="machine" value={name} onChange={(event) => setName(event.currentTarget.value)}>
            {MACHINES.map((one) => <option key={one} value={one}>{one}</option>)}
          </select>
        </div>
        {slider("memory", "On-chip memory", memory, 14, 32, short(capacity), setMemory)}
        {name === "own" && slider("bandwidth", "Bandwidth", bandwidth, 20, 40, `${short(rate)} per second`, setBandwidth)}
        {slider("buffers", "Weight buffers", buffers, 1, 8, String(buffers), setBuffers)}
      </div>
      {error && <p role="alert">{error}</p>}
      {found && (
        <>
          <p>
            No timeline is shorter than {seconds(found.bound)}.{" "}
            {found.best ? `The best is ${found.best}.` : `None fits into ${short(capacity)}${found.reason ? `: ${found.reason}` : ""}.`}
          </p>
          <table>
            <thead><tr><th scope="col">Schedule</th><th scope="col" class="number">Makespan</th><th scope="col" class="number">Stall</th></tr></thead>
            <tbody>
              {found.schedules.map((one) => (
                <tr key={one.name} class={one.name === found.best ? "selected" : ""}>
                  <th scope="row">{one.name}</th>
                  <td class="number">{one.makespan === null ? "does not fit" : seconds(one.makespan)}</td>
                  <td class="number">{one.waiting === null ? "–" : `${one.waiting.toFixed(1)} %`}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {picture && <img src={picture} alt={`Timeline of ${found.best ?? ""}: transfers above, computation below`} />}
        </>
      )}
    </details>
  );
}
