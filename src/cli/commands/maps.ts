/** `geoferry maps`: lists the maps of the account. */
import { createError } from "../../errors.js";
import type { Command } from "../command.js";
import { networkOptions } from "../options/network-options.js";
import { type ServiceArguments, serviceFrom, serviceOptions } from "../options/service-options.js";
import { describeMap, printNotice, printResult } from "../output/print.js";

export const mapsCommand: Command<ServiceArguments> = {
  usage: "maps",
  summary: "List the maps of the account, if the service supports it",
  positionals: {},
  options: { ...serviceOptions, ...networkOptions },
  examples: [["maps --json", "print one record per line"]],
  async run(args) {
    const service = await serviceFrom(args);
    const maps = await service.maps();
    if (maps === null) throw createError("remote-maps-unlisted", { service: service.url });
    const { sanitizeForDisplay } = await import("../../remote/http/sanitize-for-display.js");
    for (const map of maps) {
      const record = { ...map, owner: map.owner.email ?? map.owner.name };
      printResult(
        args,
        record,
        describeMap({ ...record, name: sanitizeForDisplay(map.name, []), owner: sanitizeForDisplay(record.owner, []) }),
      );
    }
    if (maps.length === 0)
      printNotice(args, `${service.url}: the account has no maps; create one on the pages of the service`);
    return 0;
  },
};
