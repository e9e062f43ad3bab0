/** Verdicts of crs-compare.mjs in the words of docs/crs.md, in its order. */
export const classes = {
  agree: "agree with PROJ within 1 mm, both ways",
  home: "agree within 1 mm, and return by the forward operation where PROJ does not",
  partly: "agree within 1 mm where supported; some positions are refused",
  close: "1 mm to 1 cm apart",
  off: "further apart, intentionally: the list below",
  refused: "refused, though PROJ has an operation",
  grid: "PROJ lacks a grid and has only a ballpark operation",
  ballpark: "PROJ has only a ballpark operation",
  none: "PROJ has no coordinates",
};

/** The verdicts that want a reason. */
const differing = ["partly", "close", "off", "refused"];

/** Counts of current and deprecated systems by verdict, as a table of Markdown. */
export function tableOf(rows) {
  const count = (verdict, deprecated) =>
    rows.filter((row) => (verdict === null || row.verdict === verdict) && row.deprecated === deprecated).length;
  const line = (verdict, title) => `| ${title} | ${count(verdict, false)} | ${count(verdict, true)} |`;
  return [
    "| | current | deprecated |",
    "| --- | ---: | ---: |",
    ...Object.entries(classes).map(([verdict, title]) => line(verdict, title)),
    line(null, "all"),
  ].join("\n");
}

/** Of those that PROJ can do without grids the share, in per cent, that agrees; and all that differ for no known reason. */
export function summary(rows, known) {
  const able = rows.filter(({ verdict }) => !["grid", "ballpark", "none"].includes(verdict));
  const agreeing = able.filter(({ verdict }) => ["agree", "home", "partly"].includes(verdict));
  const strictly = able.filter(({ verdict }) => ["agree", "partly"].includes(verdict));
  const unexplained = rows.filter(({ id, verdict }) => differing.includes(verdict) && known[id] === undefined);
  const shareOf = (some) => (100 * some.length) / able.length;
  return { share: shareOf(agreeing), strictShare: shareOf(strictly), unexplained: unexplained.map(({ id }) => id) };
}

/** Every system that does not agree though PROJ has an operation, with the reason; those of one reason in one line. */
export function differencesOf(rows, known) {
  const byReason = new Map();
  for (const { id, verdict, why = "", worst } of rows) {
    if (!differing.includes(verdict)) continue;
    // What differs from system to system does not make another reason.
    const refusal = why.replace(/^no transformation from \S+ to \S+ that is accurate enough: /, "").replace(id, "it");
    const reason = known[id] ?? (refusal || `${worst.toPrecision(2)} m apart`);
    const line = `${verdict}|${reason.replaceAll("|", "/")}`;
    byReason.set(line, [...(byReason.get(line) ?? []), id.slice(id.indexOf(":") + 1)]);
  }
  const order = Object.keys(classes);
  const lines = [...byReason].sort(([a], [b]) => order.indexOf(a.split("|")[0]) - order.indexOf(b.split("|")[0]));
  return [
    "| EPSG | | why |",
    "| --- | --- | --- |",
    ...lines.map(([line, codes]) => `| ${codes.join(", ")} | ${line.replace("|", " | ")} |`),
  ].join("\n");
}
