/** `geoferry maps`: the maps of the account that the credentials are of. */

import { fault } from "../../errors.js";
import type { Command } from "../command.js";
import { networkOptions } from "../network-options.js";
import { describeMap, give, tell } from "../say.js";
import { type ServiceArguments, serviceFrom, serviceOptions } from "../service-options.js";

export const mapsCommand: Command<ServiceArguments> = {
  usage: "maps",
  summary: "List the maps of the account, where the service does",
  positionals: {},
  options: { ...serviceOptions, ...networkOptions },
  examples: [["maps --json", "one record a line"]],
  async run(args) {
    const service = await serviceFrom(args);
    const maps = await service.maps();
    if (maps === null) throw fault("remote-maps-unlisted", { service: service.url });
    const { told } = await import("../../remote/told.js");
    for (const map of maps) {
      const record = { ...map, owner: map.owner.email ?? map.owner.name };
      give(args, record, describeMap({ ...record, name: told(map.name, []), owner: told(record.owner, []) }));
    }
    if (maps.length === 0) tell(args, `${service.url}: the account has no maps yet; the service's pages make them`);
    return 0;
  },
};
