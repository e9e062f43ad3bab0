import type { Job } from "../jobs/job.js";
import type { ServiceArguments } from "./service-options.js";

/** What flags and environment do not say of the service, the job's file does. */
export function jobService({ service }: Job, args: ServiceArguments): Partial<ServiceArguments> {
  const { url, profile, insecureHttp, clientId, clientSecret } = service;
  const asked = args.profile ?? (args.url === undefined ? profile : undefined);
  const secure = args.insecureHttp ?? insecureHttp;
  const address = args.url ?? url;
  return {
    ...(address === undefined ? {} : { url: address }),
    ...(asked === undefined ? {} : { profile: asked }),
    ...(secure === undefined ? {} : { insecureHttp: secure }),
    credentials: {
      ...(clientId === undefined ? {} : { clientId }),
      ...(clientSecret === undefined ? {} : { clientSecret }),
    },
  };
}
