import type { PluginContext } from "../../../src/plugin/index.js";

/**
 * Reports a message of GDAL, verbatim without its number.
 * @param isLoss whether values or features may be missing after it
 */
export function reportWarning(
  message: string,
  context: Pick<PluginContext, "reportLoss" | "reportNotice">,
  isLoss: (message: string) => boolean,
): void {
  const text = message.replace(/^\w+ \d+: /, "");
  if (isLoss(message)) context.reportLoss("gdal-warning", undefined, text);
  else context.reportNotice("gdal-warning", undefined, text);
}
