// Rows of CSV files, as the command writes them.

export type Row = Record<string, string>;

/** Splits a CSV text into records; quoted fields may contain separators and line ends. */
export function records(text: string): string[][] {
  if (!text.includes('"')) {
    return text.split("\n").map((line) => line.replace(/\r$/, "").split(",")).filter((one) => one.length > 1 || one[0].trim() !== "");
  }
  const all: string[][] = [];
  let record: string[] = [];
  let field = "";
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (quoted) {
      if (letter !== '"') field += letter;
      else if (text[at + 1] === '"') field += text[++at];
      else quoted = false;
    } else if (letter === '"' && field === "") quoted = true;
    else if (letter === ",") {
      record.push(field);
      field = "";
    } else if (letter === "\n") {
      all.push([...record, field.replace(/\r$/, "")]);
      [record, field] = [[], ""];
    } else field += letter;
  }
  if (field !== "" || record.length > 0) all.push([...record, field]);
  return all.filter((one) => one.length > 1 || one[0].trim() !== "");
}

/** Returns one object per row, whose keys are the names in the first line. */
export function rows(text: string): Row[] {
  const [head = [], ...rest] = records(text.replace(/^\uFEFF/, ""));
  const names = head.map((name) => name.trim().toLowerCase());
  // Files may have millions of rows, so this code creates no objects other than the rows.
  return rest.map((record) => {
    const row: Row = {};
    for (let at = 0; at < names.length; at++) row[names[at]] = (record[at] ?? "").trim();
    return row;
  });
}

const quoted = (field: string) => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);

/** Returns the text without one column. */
export function without(text: string, column: string): string {
  const all = records(text.replace(/^\uFEFF/, ""));
  const at = all[0]?.findIndex((name) => name.trim().toLowerCase() === column) ?? -1;
  if (at < 0) return text;
  const line = (record: string[]) => record.filter((_, index) => index !== at).map(quoted).join(",");
  return all.map(line).join("\n") + "\n";
}

/** Returns the text with a column that has the same value in every row. */
export function withColumn(text: string, column: string, value: string): string {
  const [head, ...rest] = records(without(text, column));
  return [[...head, column], ...rest.map((record) => [...record, value])].map((one) => one.map(quoted).join(",")).join("\n") + "\n";
}
