/** Ends a request if the server does not respond, or transfers too few bytes for too long. */
import type { ClientRequest } from "node:http";
import type { NetworkSettings } from "../../network-settings.js";
import type { NetworkFailure } from "./network-failure.js";

export type TransferLimits = Pick<NetworkSettings, "connectTimeout" | "timeout" | "minimumRate">;

/** Number of transfer rate checks within `timeout`. */
const checksPerTimeout = 8;

type Phase = "connecting" | "sending" | "waiting" | "receiving" | "over";

/**
 * A request must be connected within `connectTimeout`, and its response must begin within `timeout` of its last byte.
 * While a body is transferred, the average rate over every period of `timeout` must reach `minimumRate`; the total time is
 * not limited.
 */
export class TransferTimeout {
  /** Why the timeout ended the request; null if it did not. */
  failure: NetworkFailure | null = null;
  /** Whether bytes of the request may have reached the server. */
  isConnected = false;
  private phase: Phase = "connecting";
  private timer: NodeJS.Timeout;
  private readonly recentBytes: number[] = [];
  private periodBytes = 0;
  private isPaused = false;

  /** @param hasRequestBody whether the request has a body */
  constructor(
    private readonly request: ClientRequest,
    private readonly limits: TransferLimits,
    private readonly hasRequestBody: boolean,
  ) {
    const { connectTimeout } = limits;
    this.timer = setTimeout(() => {
      this.end(`there is no connection within ${formatSeconds(connectTimeout)} (--connect-timeout)`);
    }, connectTimeout);
    request.once("socket", (socket) => {
      // Nothing is sent before the TLS handshake is complete.
      if (socket.connecting) socket.once("encrypted" in socket ? "secureConnect" : "connect", () => this.onConnected());
      else this.onConnected();
    });
  }

  /** Counts transferred bytes of a body. */
  onBytes(bytes: number): void {
    this.periodBytes += bytes;
  }

  /** To be called when the body of the request was sent. */
  onRequestSent(): void {
    if (this.phase === "sending") this.startPhase("waiting");
  }

  /** To be called when the headers of the response have arrived. */
  onResponse(): void {
    this.isConnected = true;
    if (this.phase !== "over") this.startPhase("receiving");
  }

  /** Stops the rate check while the caller processes a chunk, since the server cannot send more. */
  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  stop(): void {
    this.phase = "over";
    clearTimeout(this.timer);
  }

  private onConnected(): void {
    if (this.phase !== "connecting") return;
    this.isConnected = true;
    this.startPhase(this.hasRequestBody ? "sending" : "waiting");
  }

  private startPhase(phase: Phase): void {
    clearTimeout(this.timer);
    this.phase = phase;
    this.recentBytes.length = 0;
    this.periodBytes = 0;
    const { timeout } = this.limits;
    this.timer = setTimeout(() => this.check(), phase === "waiting" ? timeout : timeout / checksPerTimeout);
  }

  private check(): void {
    const { timeout } = this.limits;
    if (this.phase === "waiting") this.end(`no answer within ${formatSeconds(timeout)} (--timeout)`);
    else {
      this.timer = setTimeout(() => this.check(), timeout / checksPerTimeout);
      if (!this.isPaused) this.checkRate();
    }
  }

  private checkRate(): void {
    const { timeout, minimumRate } = this.limits;
    this.recentBytes.push(this.periodBytes);
    this.periodBytes = 0;
    if (this.recentBytes.length < checksPerTimeout) return;
    const transferred = this.recentBytes.reduce((sum, bytes) => sum + bytes, 0);
    if (transferred < Math.max(1, (minimumRate * timeout) / 1000)) this.end(this.describeSlowTransfer(transferred));
    this.recentBytes.shift();
  }

  private describeSlowTransfer(transferred: number): string {
    const { timeout, minimumRate } = this.limits;
    const verb = this.phase === "sending" ? "takes" : "sends";
    if (transferred === 0) return `the server ${verb} nothing for ${formatSeconds(timeout)} (--timeout)`;
    const rate = Number((transferred / (timeout / 1000)).toPrecision(2));
    return `the server ${verb} ${rate} bytes a second for ${formatSeconds(timeout)}, fewer than ${minimumRate} (--minimum-rate, --timeout)`;
  }

  private end(reason: string): void {
    this.stop();
    this.failure = { reason, isTransient: true, isUntrusted: false };
    this.request.destroy();
  }
}

const formatSeconds = (milliseconds: number): string => `${milliseconds / 1000} s`;
