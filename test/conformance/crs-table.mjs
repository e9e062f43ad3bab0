/** Verdicts of crs-compare.mjs in the words of docs/crs.md, in its order. */
export const classes = {
  agree: "agree with PROJ within 1 mm, both ways",
  "own way": "agree within 1 mm, but for positions from which PROJ itself does not come back",
  partly: "agree within 1 mm where served; some positions are refused",
  close: "1 mm to 1 cm apart",
  off: "further apart, on purpose: the list below",
  refused: "refused, though PROJ has an operation",
  grid: "PROJ lacks a grid and has a ballpark only",
  ballpark: "PROJ has a ballpark only",
  none: "PROJ has no coordinates",
};

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

/** Of those that PROJ can do without grids the share, in per cent, that agrees; and what is off for no known reason. */
export function summary(rows, known) {
  const able = rows.filter(({ verdict }) => !["grid", "ballpark", "none"].includes(verdict));
  const agreeing = able.filter(({ verdict }) => ["agree", "own way", "partly"].includes(verdict));
  const unexplained = rows.filter(({ id, verdict }) => verdict === "off" && known[id] === undefined);
  return { share: (100 * agreeing.length) / able.length, unexplained: unexplained.map(({ id }) => id) };
}
