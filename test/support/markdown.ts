/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Replaces the parts between `<!-- begin NAME -->` and their ends. */
export function fillSections(markdown: string, parts: Readonly<Record<string, string>>): string {
  return markdown.replace(/<!-- begin (.*?) -->\n[\s\S]*?<!-- end \1 -->/g, (whole, name: string) =>
    Object.hasOwn(parts, name) ? `<!-- begin ${name} -->\n${parts[name]}\n\n<!-- end ${name} -->` : whole,
  );
}
