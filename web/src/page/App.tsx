// The page: opens sources, runs the engine, and shows the answers.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Cancelled, Engine, type Run } from "../engine/client";
import type { Answer as EngineAnswer, Files, Progress } from "../engine/run";
import type { Scheme } from "../map/colours";
import { NO_FOCUS, type Focus } from "../map/plot";
import { DEFAULTS, Refused, beside, capacityFrom, capacityOf, pools, solved as ask, spilled, suggested, type Settings, type Solved, type Spilled } from "../model/ask";
import { base64, decoded, fragment, shared } from "../model/link";
import { admit, binary, generating, source as recognised, EXAMPLES, type Example, type Source } from "../model/source";
import { Answer } from "./Answer";
import { Controls } from "./Controls";
import { Export } from "./Export";
import { Maps } from "./Maps";
import { Open } from "./Open";
import { NO_CHOICE, Regions, type Choice } from "./Regions";
import { Table } from "./Table";
import { Timelines } from "./Timelines";
import { peakStep } from "./state";
import { Tools, matches } from "./Tools";

/** The data that `plimsoll view` writes into the page. */
export interface Given {
  name: string;
  /** The file in base64. */
  data: string;
  /** The capacity, if an option replaced that of the file name, or null if an option removed it. */
  capacity?: number | null;
  /** The output of the command, with the files in base64. */
  answer: Omit<EngineAnswer, "files"> & { files: Record<string, string> };
}

function unpacked({ answer }: Given): EngineAnswer {
  const files = Object.entries(answer.files).map(([name, data]) => [name, decoded(data)]);
  return { ...answer, files: Object.fromEntries(files) as Files };
}

/** Delay between the last change of a control and the run that it causes, in milliseconds. */
const PATIENCE = 250;

interface Working {
  since: number;
  progress: Progress | null;
}

export function App({ packed, given }: { packed: string; given: Given | null }) {
  const engine = useMemo(() => new Engine(packed), [packed]);
  const running = useRef<Run | null>(null);
  const queue = useRef<Promise<unknown>>(Promise.resolve());
  const asked = useRef(0);
  const prepared = useRef(given && unpacked(given));
  const [names, setNames] = useState<{ solvers: string[]; orders: string[] }>({ solvers: [], orders: [] });
  const [source, setSource] = useState<Source | null>(null);
  const [memories, setMemories] = useState<Source[]>([]);
  const [settings, setSettings] = useState<Settings>(DEFAULTS);
  const [working, setWorking] = useState<Working | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [shapes, setShapes] = useState<string[]>([]);
  const [answer, setAnswer] = useState<Solved | null>(null);
  const [spill, setSpill] = useState<Spilled | null>(null);
  const [focus, setFocus] = useState<Focus>(NO_FOCUS);
  const [scheme, setScheme] = useState<Scheme>("kind");
  const [search, setSearch] = useState("");
  const [choice, setChoice] = useState<Choice>(NO_CHOICE);
  const [isOver, setOver] = useState(false);
  const change = useCallback((part: Partial<Focus>) => setFocus((focus) => ({ ...focus, ...part })), []);

  /** Runs the command after all earlier runs. */
  const run = useCallback((args: string[], files: Files) => {
    if (prepared.current && ["solve", "plan"].includes(args[0])) {
      const answer = prepared.current;
      prepared.current = null;
      return Promise.resolve(answer);
    }
    const mine = asked.current;
    const next = queue.current.catch(() => {}).then(() => {
      // The user has since asked for something else.
      if (mine !== asked.current) throw new Cancelled("cancelled");
      const started = engine.run(args, files, (progress) => setWorking((now) => now && { ...now, progress }));
      running.current = started;
      return started.answer;
    });
    queue.current = next;
    return next;
  }, [engine]);

  const attempt = useCallback(async (work: () => Promise<void>) => {
    running.current?.cancel();
    const mine = ++asked.current;
    setWorking({ since: performance.now(), progress: null });
    setError(null);
    setShapes([]);
    try {
      await work();
    } catch (error) {
      if (mine !== asked.current || error instanceof Cancelled) return;
      const message = error instanceof Error ? error.message : String(error);
      setError(error instanceof Refused ? message : `The engine stopped: ${message}`);
      setShapes(suggested(message));
    } finally {
      if (mine === asked.current) setWorking(null);
    }
  }, []);

  const solve = useCallback((source: Source, settings: Settings, isSame: boolean) => attempt(async () => {
    const mine = asked.current;
    const found = await ask(run, source, settings);
    if (mine !== asked.current) return;
    setAnswer(found);
    setChoice(NO_CHOICE);
    if (!isSame) {
      setFocus({ ...NO_FOCUS, step: peakStep(found.view) });
      setSearch("");
    } else change({ step: peakStep(found.view), hovered: -1, found: null });
    if (settings.beside !== "") {
      const other = await beside(run, source, found, settings);
      if (mine !== asked.current) return;
      const layouts = [other, ...found.view.layouts.slice(-1)];
      if (other.name !== layouts[1]?.name) setAnswer({ ...found, view: { ...found.view, layouts } });
    }
    await compare(found, settings);
  }), [attempt, run]);

  /** Asks which buffers to spill if the peak exceeds the capacity. */
  const compare = async (found: Solved, settings: Settings) => {
    setSpill(null);
    const peak = found.view.layouts.at(-1)?.peak ?? 0;
    if (settings.capacity === null || peak <= settings.capacity || !engine.exists) return;
    setSpill(await spilled(run, found.placed, settings.capacity, Math.min(settings.seconds, 5)));
  };

  const show = useCallback((source: Source, settings: Settings) => {
    setSource(source);
    setSettings(settings);
    setAnswer(null);
    // On a narrow screen, the answer appears above the examples.
    scrollTo({ top: 0 });
    setSpill(null);
    return solve(source, settings, false);
  }, [solve]);

  const open = useCallback((name: string, data: Uint8Array, own: Partial<Settings> = {}) => {
    try {
      const source = recognised(name, data);
      const settings = { ...DEFAULTS, capacity: capacityOf(source.name), ...own };
      setMemories([]);
      if (source.kind !== "pools") return void show(source, settings);
      void attempt(async () => {
        const all = await pools(run, source);
        setMemories(all);
        if (all.length > 0) await show(all[0], { ...settings, capacity: capacityOf(all[0].name) });
      });
    } catch (error) {
      running.current?.cancel();
      setError(error instanceof Error ? error.message : String(error));
    }
  }, [show, attempt, run]);

  const read = useCallback((file: File | undefined) => {
    const refuse = (error: unknown) => setError(error instanceof Error ? error.message : String(error));
    if (!file) return;
    try {
      admit(file.name, file.size);
      void file.arrayBuffer().then((data) => open(file.name, new Uint8Array(data)), refuse);
    } catch (error) {
      refuse(error);
    }
  }, [open]);

  const take = (example: Example) => {
    if (example.text) return open(example.file, binary(example.text));
    void attempt(async () => {
      const { files } = await run(generating(example), {});
      open(example.file, files[example.file]);
    });
  };

  const cancel = () => {
    asked.current += 1;
    running.current?.cancel();
    setWorking(null);
  };

  /** Compiles the engine while the page is idle, and lists its algorithms. */
  useEffect(() => {
    if (!engine.exists) return;
    const listing = engine.run(["list", "--json"], {}, () => {}).answer;
    queue.current = listing;
    listing.then(({ out }) => {
      const listed = JSON.parse(out) as { algorithms: { problem: string; name: string }[] };
      const of = (problem: string) => listed.algorithms.filter((one) => one.problem === problem).map((one) => one.name);
      setNames({ solvers: of("offsets"), orders: of("orders") });
    }, () => {});
  }, [engine]);

  useEffect(() => {
    if (given) open(given.name, decoded(given.data), given.capacity === undefined ? {} : { capacity: given.capacity });
    else if (engine.exists) void shared(location.hash).then((found) => (found ? open(found.name, decoded(found.data), found.settings) : take(EXAMPLES[0])));
  }, []);

  useEffect(() => {
    const drop = (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      read(event.dataTransfer?.files[0]);
    };
    const over = (event: DragEvent) => {
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const paste = (event: ClipboardEvent) => {
      if (event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement) return;
      const file = event.clipboardData?.files[0];
      const text = event.clipboardData?.getData("text/plain");
      if (file) read(file);
      else if (text) open("pasted", binary(text));
    };
    addEventListener("drop", drop);
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("paste", paste);
    return () => {
      removeEventListener("drop", drop);
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("paste", paste);
    };
  }, [open, read]);

  const timer = useRef(0);
  const adjust = (part: Partial<Settings>) => {
    const next = { ...settings, ...part };
    setSettings(next);
    clearTimeout(timer.current);
    if (!source) return;
    const isCapacity = answer !== null && Object.keys(part).every((key) => key === "capacity");
    timer.current = window.setTimeout(() => {
      if (!isCapacity) return void solve(source, next, true);
      const found = { ...answer, view: { ...answer.view, capacity: next.capacity } };
      setAnswer(found);
      void attempt(() => compare(found, next));
    }, PATIENCE);
  };

  const limit = (text: string) => void attempt(async () => {
    const mine = asked.current;
    const capacity = await capacityFrom(run, text);
    if (mine === asked.current) adjust({ capacity });
  });

  const find = (words: string) => {
    setSearch(words);
    setChoice(NO_CHOICE);
    if (answer) change({ found: matches(answer.view, words) });
  };

  const link = async () => source && fragment({ name: source.name, data: base64(source.data), settings });
  const picture = answer && engine.exists ? async () => (await run(["solve", answer.placed.name, "--plot", "layout.svg", "--algorithm", settings.solver, "--time-limit", String(settings.seconds)],
    { [answer.placed.name]: answer.placed.data })).files : null;

  return (
    <div class={isOver ? "app over" : "app"}>
      <header>
        <h1>Plimsoll</h1>
        <p>How low can the peak memory of a network go, and why not lower?</p>
      </header>
      <aside>
        {engine.exists
          ? <Open open={open} read={read} take={take} />
          : <p class="empty">This page shows one answer and does not contain the solver; <code>make web</code> builds a page that contains it.</p>}
        {engine.exists && source && source.kind !== "pools" && <Controls kind={source.kind} {...names} settings={settings} view={answer?.view ?? null} change={adjust} limit={limit} />}
        {answer && <Export solved={answer} picture={picture} link={engine.exists ? link : null} />}
      </aside>
      <main>
        {memories.length > 1 && (
          <nav aria-label="Memories of the document" class="memories">
            {memories.map((memory) => (
              <button key={memory.name} type="button" aria-pressed={memory.name === source?.name}
                onClick={() => void show(memory, { ...settings, capacity: capacityOf(memory.name) })}>
                {memory.name.replace(/\.csv$/, "").slice(-40)}
              </button>
            ))}
          </nav>
        )}
        {working && <Busy working={working} cancel={cancel} />}
        {error !== null && <div role="alert" class="error"><p>{error}</p></div>}
        {shapes.length > 0 && source && <Shapes options={shapes} solve={(shapes) => adjust({ shapes })} />}
        {answer ? (
          <>
            <Answer {...{ answer, spill, focus, settings }} change={change} />
            <Tools view={answer.view} search={search} find={find} scheme={scheme} colour={setScheme} />
            <Regions view={answer.view} choice={choice} change={change} choose={(choice) => {
              setChoice(choice);
              setSearch("");
            }} />
            {answer.view.layouts.length > 0 && <Maps view={answer.view} scheme={scheme} focus={focus} change={change} />}
            {source?.kind === "model" && engine.exists && <Timelines source={source} ask={run} shapes={settings.shapes} />}
            <Table view={answer.view} id="table" focus={focus} change={change} />
          </>
        ) : (
          !working && error === null && <p class="empty">Open a model or an instance to see what its peak is made of, and how low it can go.</p>
        )}
      </main>
    </div>
  );
}

function Busy({ working, cancel }: { working: Working; cancel: () => void }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 200);
    return () => clearInterval(timer);
  }, []);
  const { progress, since } = working;
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  return (
    <div class="busy">
      <p role="status">{progress ? `${progress.algorithm} is running` : "The engine is starting"}</p>
      <p aria-hidden="true">
        {seconds} s{progress && `, best ${progress.best ?? "none"}, bound ${progress.bound ?? "none"}`}
        {progress?.gap_percent != null && `, gap ${progress.gap_percent.toFixed(2)} %`} {progress?.phase}
      </p>
      <progress aria-label="Progress" />
      <button type="button" onClick={cancel}>Cancel</button>
    </div>
  );
}

/** A form for free dimensions, filled with the values that the engine suggests. */
function Shapes({ options, solve }: { options: string[]; solve: (options: string[]) => void }) {
  const pairs = options.flatMap((word, at) => (word.startsWith("--") ? [[word, options[at + 1] ?? ""]] : []));
  const [values, set] = useState(() => pairs.map(([, value]) => value));
  return (
    <form class="shapes" onSubmit={(event) => {
      event.preventDefault();
      solve(pairs.flatMap(([option], at) => [option, values[at]]));
    }}>
      <h2>Free dimensions</h2>
      {pairs.map(([option], at) => {
        const [name, value] = values[at].includes("=") ? values[at].split(/=(.*)/s) : ["", values[at]];
        return (
          <div class="field" key={at}>
            <label for={`shape-${at}`}>{option === "--input-shape" ? "Shape of" : option.slice(2)} {name}</label>
            <input id={`shape-${at}`} value={value} onInput={(event) => {
              const text = event.currentTarget.value;
              set(values.map((old, index) => (index === at ? (name ? `${name}=${text}` : text) : old)));
            }} />
          </div>
        );
      })}
      <button type="submit" class="main">Plan with these values</button>
    </form>
  );
}
