// Formats numbers for display.

const grouped = new Intl.NumberFormat("en-US");

/** `1,039,360` */
export const exact = (value: number): string => grouped.format(value);

/** `1 buffer`, `2 buffers` */
export const counted = (value: number, name: string): string => `${exact(value)} ${name}${value === 1 ? "" : "s"}`;

/** `1,039,360 bytes (1015 KiB)` */
export function bytes(value: number): string {
  const count = counted(value, "byte");
  return value < 1024 ? count : `${count} (${short(value)})`;
}

/** `1015 KiB` */
export function short(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let at = 0;
  let rest = value;
  while (rest >= 1024 && at + 1 < units.length) {
    rest /= 1024;
    at += 1;
  }
  return `${at === 0 ? rest : Number(rest.toPrecision(rest >= 1000 ? 4 : 3))} ${units[at]}`;
}

/** `12.5 %` */
export const percent = (part: number, whole: number): string =>
  whole === 0 ? "0 %" : `${Number(((100 * part) / whole).toPrecision(3))} %`;
