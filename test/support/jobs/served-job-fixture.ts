/** A folder with job files, and the real service with their maps. */

import { findFixtureKinds, type SyncFixture } from "../sync/sync-fixture.js";
import { JobFixture, type JobRunOptions, type JobRunResult } from "./job-fixture.js";

export class ServedJobFixture extends JobFixture {
  private constructor(readonly world: SyncFixture) {
    super();
  }

  /** Await it at the top of a test file; the service, with maps in SQLite, ends after the tests. */
  static async open(): Promise<ServedJobFixture> {
    const [sqlite] = await findFixtureKinds();
    return new ServedJobFixture(await sqlite!.start());
  }

  /** Environment of a command with the service's address and state in the folder. */
  readonly environment = (): NodeJS.ProcessEnv => ({
    GEOFERRY_URL: this.world.url,
    GEOFERRY_CLIENT_ID: this.world.ada.clientId,
    GEOFERRY_CLIENT_SECRET: this.world.ada.clientSecret,
    XDG_STATE_HOME: this.at("state"),
  });

  /** `run` in that environment. */
  readonly runServed = (
    job: string,
    flags: readonly string[] = [],
    options: JobRunOptions = {},
  ): Promise<JobRunResult> => this.run(job, flags, { ...options, env: { ...this.environment(), ...options.env } });
}
