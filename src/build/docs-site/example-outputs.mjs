/** Runs the examples of a page on a copy of the samples, and puts their output below them. */
import { commandsOf, DocsSandbox, parseCodeBlocks } from "./docs-sandbox.mjs";

/** Lines that need a service, a queue or the network, or that do not end. */
const notRun =
  /# until Ctrl\+C|https?:|s3:|postgresql:|redis:|--map\b|\b(push|plan|apply|verify|restore|pull|dedupe|serve|worker|login|logout|maps|whoami|admin)\b|^npm |^npx /;

/** Lines of an output that are shown. */
const maxLines = 25;

function shorten(output) {
  const lines = output.trimEnd().split("\n");
  return lines.length <= maxLines
    ? lines.join("\n")
    : [...lines.slice(0, maxLines), `… ${lines.length - maxLines} more lines`].join("\n");
}

/** @returns the Markdown with a block of output below each `sh` block whose commands can be run here */
export async function addOutputs(markdown, path) {
  if (!/^(README|docs\/(converting|command-line|from-ogr2ogr|grids|where))\.md$/.test(path)) return markdown;
  let text = "";
  let at = 0;
  for (const block of parseCodeBlocks(markdown).filter(({ info }) => info === "sh")) {
    text += markdown.slice(at, block.end);
    at = block.end;
    const sandbox = new DocsSandbox();
    const shown = [];
    try {
      for (const command of commandsOf(block.text)) {
        if (notRun.test(command)) continue;
        const { output } = await sandbox.run(command);
        shown.push(`$ ${command.replace(/\s+#.*$/, "")}\n${shorten(output.replaceAll(sandbox.folder, "/srv/maps"))}`);
      }
    } finally {
      sandbox.remove();
    }
    if (shown.length > 0) text += `\n\n::: details Output\n\`\`\`\`console\n${shown.join("\n")}\n\`\`\`\`\n:::\n`;
  }
  return text + markdown.slice(at);
}
