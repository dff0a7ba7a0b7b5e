// Seeded mutations of files.

/** Returns a generator of integers from 0 to `below - 1`. */
export function draws(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const NUMBERS = ["0", "-1", "1", "4294967296", "9007199254740993", "9223372036854775807", "18446744073709551615", "1e308", "0.5", "NaN", ""];
const WORDS = [0, 1, 0x7fffffff, 0x80000000, 0xffffffff];
const PIECES = [",", "\"", "\n", "{", "]", "\u0000", "\u2028", "<b>", "--", "__proto__"];

/** Changes a file in one to four places: numbers, pieces and lines of a text, words of a binary file, or bytes. */
export function mutated(original: Buffer, isText: boolean, next: (below: number) => number): Buffer {
  let data = Buffer.from(next(8) === 0 ? original.subarray(0, next(original.length)) : original);
  for (let change = 0; change <= next(4) && data.length > 4; change++) {
    const at = next(data.length);
    const kind = next(4);
    if (kind === 0) data[at] = next(256);
    else if (!isText && kind < 3) data.writeUInt32LE(WORDS[next(WORDS.length)], next(data.length - 3));
    else if (kind === 1) {
      const text = data.toString("latin1");
      const number = /\d+/g;
      number.lastIndex = at;
      const found = number.exec(text);
      if (found) data = Buffer.from(text.slice(0, found.index) + NUMBERS[next(NUMBERS.length)] + text.slice(number.lastIndex), "latin1");
    } else if (kind === 2) {
      data = Buffer.concat([data.subarray(0, at), Buffer.from(PIECES[next(PIECES.length)]), data.subarray(at)]);
    } else {
      // Removes or repeats up to 100 bytes.
      const end = Math.min(data.length, at + next(100));
      data = Buffer.concat([data.subarray(0, next(2) === 0 ? at : end), data.subarray(end)].concat(next(2) === 0 ? [data.subarray(at, end)] : []));
    }
  }
  return data;
}
