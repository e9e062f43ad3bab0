/** An object store for tests: Ceph's gateway with a monitor and an in-memory disk, started per test file. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
} from "@aws-sdk/client-s3";
import { afterAll } from "vitest";
import { freePort } from "./free-port.js";

const user = { accessKeyId: "geoferry-test", secretAccessKey: "not-a-secret" };
const programs = ["ceph-mon", "ceph-osd", "monmaptool", "ceph", "radosgw", "radosgw-admin"];

/** A single in-memory replica, without passwords between components and without delays. */
const settings = (folder: string, monitor: number, gateway: number, cluster: string): string => `[global]
fsid = ${cluster}
mon host = v1:127.0.0.1:${monitor}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
keyring =
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 4294967296
mon allow pool size one = true
mon max pg per osd = 10000
paxos propose interval = 0.02
paxos min wait = 0.01
mon data = ${folder}/mon
osd data = ${folder}/osd
rgw data = ${folder}/rgw
run dir = ${folder}/run
crash dir = ${folder}/run
admin socket = ${folder}/run/$cluster-$name.asok
log to file = false
mon cluster log to file = false
log to stderr = true
rgw frontends = beast endpoint=127.0.0.1:${gateway}
rgw dynamic resharding = false
rgw override bucket index max shards = 1
rgw gc max objs = 1
rgw lc max objs = 1
rgw num control oids = 1
rgw usage max shards = 1
rgw objexp hints num shards = 1
rgw reshard num logs = 1
`;

// Suppresses a warning of the client on Node 20, as geoferry does.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";

export class ObjectStore {
  private buckets = 0;

  constructor(
    readonly endpoint: string,
    private readonly client = new S3Client({
      endpoint,
      region: "us-east-1",
      forcePathStyle: true,
      credentials: user,
      requestChecksumCalculation: "WHEN_REQUIRED",
    }),
  ) {}

  /** Environment variables with which geoferry finds the store. */
  get environment(): Record<string, string> {
    return {
      AWS_ENDPOINT_URL_S3: this.endpoint,
      AWS_ACCESS_KEY_ID: user.accessKeyId,
      AWS_SECRET_ACCESS_KEY: user.secretAccessKey,
      AWS_EC2_METADATA_DISABLED: "true",
    };
  }

  /** Creates an empty bucket. */
  async bucket(): Promise<Bucket> {
    const name = `bucket-${this.buckets++}`;
    await this.client.send(new CreateBucketCommand({ Bucket: name }));
    return new Bucket(this.client, name);
  }
}

type ObjectHeaders = Pick<PutObjectCommandInput, "ContentType" | "CacheControl" | "ContentEncoding">;

export class Bucket {
  constructor(
    private readonly client: S3Client,
    readonly name: string,
  ) {}

  readonly at = (key: string): string => `s3://${this.name}/${key}`;

  /** @param isPublic whether everyone can read it @param labels HTTP metadata */
  async put(key: string, content: string | Buffer, isPublic = false, labels: ObjectHeaders = {}): Promise<void> {
    const access = isPublic ? { ACL: "public-read" as const } : {};
    await this.client.send(new PutObjectCommand({ Bucket: this.name, Key: key, Body: content, ...access, ...labels }));
  }

  async labels(key: string): Promise<ObjectHeaders> {
    const { ContentType, CacheControl } = await this.client.send(
      new HeadObjectCommand({ Bucket: this.name, Key: key }),
    );
    return { ContentType, CacheControl };
  }

  async remove(key: string): Promise<void> {
    await this.client.send(new DeleteObjectCommand({ Bucket: this.name, Key: key }));
  }

  async get(key: string): Promise<Buffer> {
    const { Body } = await this.client.send(new GetObjectCommand({ Bucket: this.name, Key: key }));
    return Buffer.from(await Body!.transformToByteArray());
  }

  /** The first thousand keys. */
  async keys(prefix = ""): Promise<string[]> {
    const { Contents = [] } = await this.client.send(new ListObjectsV2Command({ Bucket: this.name, Prefix: prefix }));
    return Contents.map(({ Key }) => Key!);
  }

  /** Keys of multipart uploads that were neither completed nor aborted. */
  async unfinished(): Promise<string[]> {
    const { Uploads = [] } = await this.client.send(new ListMultipartUploadsCommand({ Bucket: this.name }));
    return Uploads.map(({ Key }) => Key!);
  }
}

/**
 * Null, with a warning, if Ceph is not installed; an error in CI. Call it at the top of a test file; it stops after the
 * tests.
 */
export async function startObjectStore(): Promise<ObjectStore | null> {
  const missing = programs.filter((program) => spawnSync(program, ["--version"], { stdio: "ignore" }).error);
  if (missing.length > 0) {
    const sentence = `${missing.join(", ")}: not there (the packages ceph-mon, ceph-osd and radosgw have it)`;
    if (process.env.CI) throw new Error(sentence);
    console.warn(`NOT TESTED: buckets; ${sentence}`);
    return null;
  }
  const folder = mkdtempSync(join(tmpdir(), "geoferry-ceph-"));
  const started: ChildProcess[] = [];
  afterAll(async () => {
    for (const child of started.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, "close");
      child.kill("SIGKILL");
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });
  const [monitor, gateway] = [await freePort(), await freePort()];
  const cluster = randomUUID();
  const disk = randomUUID();
  const configuration = join(folder, "ceph.conf");
  for (const name of ["mon", "osd", "rgw", "run"]) mkdirSync(join(folder, name));
  writeFileSync(configuration, settings(folder, monitor, gateway, cluster));
  const run = (program: string, ...args: readonly string[]): void => {
    const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8", timeout: 60_000 });
    if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr.slice(-2000)}`);
  };
  const start = (program: string, ...args: readonly string[]): ChildProcess => {
    const log = openSync(join(folder, `${program}.log`), "a");
    const child = spawn(program, [...args, "-f"], { stdio: ["ignore", log, log] });
    closeSync(log);
    started.push(child);
    return child;
  };
  const map = join(folder, "monmap");
  const ceph = ["--conf", configuration];
  run("monmaptool", "--create", "--addv", "a", `[v1:127.0.0.1:${monitor}]`, "--fsid", cluster, map);
  run("ceph-mon", ...ceph, "--mkfs", "-i", "a", "--monmap", map);
  start("ceph-mon", ...ceph, "-i", "a");
  // A monitor that has only begun to listen refuses commands (EPERM).
  for (let tries = 1; ; tries++) {
    try {
      run("ceph", ...ceph, "osd", "new", disk);
      break;
    } catch (error) {
      if (tries === 5) throw error;
      await pause(1000);
    }
  }
  run("ceph-osd", ...ceph, "-i", "0", "--mkfs", "--osd-uuid", disk);
  let osd = start("ceph-osd", ...ceph, "-i", "0");
  // An OSD that connects before it has the monitor map is rejected as belonging to another cluster, and exits.
  const keepUp = (): void => {
    if (osd.exitCode !== null || osd.signalCode !== null) osd = start("ceph-osd", ...ceph, "-i", "0");
  };
  const endpoint = `http://127.0.0.1:${gateway}`;
  const begin = () => start("radosgw", ...ceph, "-n", "client.admin");
  for (let tries = 1; !(await isAnswering(endpoint, begin(), keepUp)); tries++)
    if (tries === 4) throw new Error(`radosgw does not answer: ${readFileSync(join(folder, "radosgw.log"), "utf8")}`);
  const keys = ["--access-key", user.accessKeyId, "--secret-key", user.secretAccessKey];
  run("radosgw-admin", ...ceph, "user", "create", "--uid", "test", "--display-name", "test", ...keys);
  return new ObjectStore(endpoint);
}

/** Milliseconds. A gateway that connects before the monitor is ready may retry only after half a minute. */
const startupTimeoutMs = 60_000;

/** Whether the gateway responds, while `keepUp` restarts its dependencies; stops a gateway that does not. */
async function isAnswering(endpoint: string, gateway: ChildProcess, keepUp: () => void): Promise<boolean> {
  for (const end = Date.now() + startupTimeoutMs; Date.now() < end && gateway.exitCode === null; ) {
    keepUp();
    const answer = await fetch(endpoint, { signal: AbortSignal.timeout(2000) }).catch(() => null);
    if (answer?.ok) return true;
    await pause(100);
  }
  gateway.kill("SIGKILL");
  return false;
}
