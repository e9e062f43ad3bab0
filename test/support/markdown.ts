/** A table of Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** The page with every part between `<!-- begin NAME -->` and its end recreated. */
export function fillSections(markdown: string, parts: Readonly<Record<string, string>>): string {
  return markdown.replace(/<!-- begin (.*?) -->\n[\s\S]*?<!-- end \1 -->/g, (whole, name: string) =>
    Object.hasOwn(parts, name) ? `<!-- begin ${name} -->\n${parts[name]}\n\n<!-- end ${name} -->` : whole,
  );
}
