import type { Job } from "../../jobs/job.js";
import { omitUndefined } from "../../pipeline/request.js";
import type { ServiceArguments } from "../options/service-options.js";

/** Connection settings; flags and environment override the job file. */
export function jobService({ service }: Job, args: ServiceArguments): Partial<ServiceArguments> {
  const { url, profile, insecureHttp, clientId, clientSecret } = service;
  return omitUndefined<Partial<ServiceArguments>>({
    url: args.url ?? url,
    profile: args.profile ?? (args.url === undefined ? profile : undefined),
    insecureHttp: args.insecureHttp ?? insecureHttp,
    credentials: omitUndefined<NonNullable<ServiceArguments["credentials"]>>({ clientId, clientSecret }),
  });
}
