// Colours that remain distinct for colour-blind readers, as in the pictures of the command.

export type Scheme = "kind" | "size" | "slack";

export type Rgb = [number, number, number];

/** The light qualitative scheme of Paul Tol (SRON/EPS/TN/09-002). */
const LIGHT: Rgb[] = [
  [0x77, 0xaa, 0xdd], [0xee, 0x88, 0x66], [0xee, 0xdd, 0x88], [0xff, 0xaa, 0xbb],
  [0x99, 0xdd, 0xff], [0x44, 0xbb, 0x99], [0xbb, 0xcc, 0x33], [0xaa, 0xaa, 0x00],
];

/** Five colours of cividis (Nuñez, Anderton, Renslow 2018), from low to high. */
const CIVIDIS: Rgb[] = [[0x12, 0x35, 0x70], [0x57, 0x5d, 0x6d], [0x8a, 0x86, 0x79], [0xc4, 0xb5, 0x6c], [0xfd, 0xe7, 0x37]];

/** Shares of white that are mixed into a colour, in percent. */
const TINTS = [0, 20, 40];

export function qualitative(index: number, tint = 0): Rgb {
  const white = TINTS[tint % TINTS.length];
  return LIGHT[index % LIGHT.length].map((part) => Math.round((part * (100 - white) + 255 * white) / 100)) as Rgb;
}

/** Returns the colour of a share between 0 and 1. */
export function sequential(share: number): Rgb {
  const at = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(at), CIVIDIS.length - 2);
  return mixed(CIVIDIS[low], CIVIDIS[low + 1], at - low);
}

export function mixed(a: Rgb, b: Rgb, share: number): Rgb {
  return a.map((part, at) => Math.round(part + (b[at] - part) * share)) as Rgb;
}

/** Returns a pixel of `ImageData`. All machines that run browsers are little-endian. */
export const pixel = ([red, green, blue]: Rgb): number => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;

export const css = ([red, green, blue]: Rgb): string => `rgb(${red} ${green} ${blue})`;

/** Reads `#abc` and `#aabbcc`. */
export function parsed(text: string): Rgb {
  const short = text.trim().replace("#", "");
  const digits = short.length === 3 ? [...short].map((digit) => digit + digit).join("") : short;
  return [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)) as Rgb;
}
