import type { Job } from "../jobs/job.js";
import { given } from "../pipeline/request.js";
import type { ServiceArguments } from "./service-options.js";

/** What flags and environment do not say of the service, the job's file does. */
export function jobService({ service }: Job, args: ServiceArguments): Partial<ServiceArguments> {
  const { url, profile, insecureHttp, clientId, clientSecret } = service;
  return given<Partial<ServiceArguments>>({
    url: args.url ?? url,
    profile: args.profile ?? (args.url === undefined ? profile : undefined),
    insecureHttp: args.insecureHttp ?? insecureHttp,
    credentials: given<NonNullable<ServiceArguments["credentials"]>>({ clientId, clientSecret }),
  });
}
