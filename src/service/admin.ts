/**
 * The operations of `geoferry admin` on a store, which a running service may have open at the same time. Each change is
 * written to the audit log.
 */
import { Check } from "typebox/value";
import { createError } from "../errors.js";
import { changeAccountName, changePassword, createAccount } from "./auth/accounts.js";
import { createCredential, revokeCredential } from "./auth/credentials.js";
import { isEmail } from "./auth/email.js";
import { findPasswordProblem, hashPassword } from "./auth/passwords.js";
import { isUuid } from "./identifiers/uuid.js";
import { type AuditContext, createMap, deleteMap } from "./maps/map-changes.js";
import { MapName } from "./maps/map-routes.js";
import type { Account, Credential, Store, StoredMap } from "./store/contract.js";
import { describeLocation, openExistingStore, openStore, type StoreLocation } from "./store/open-store.js";

/** A client id and its secret. The secret cannot be retrieved later. */
export interface NewCredential {
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface RemovedMap {
  readonly name: string;
  readonly features: number;
}

export class Admin implements AsyncDisposable {
  /** Name of the store in messages. */
  readonly place: string;

  private constructor(
    private readonly store: Store,
    location: StoreLocation,
    private readonly now: () => number,
  ) {
    this.place = describeLocation(location);
  }

  /**
   * @param create whether to create the store if it does not exist
   * @throws store-folder-missing, folder-not-writable, store-unavailable, store-newer, store-foreign
   */
  static async open(location: StoreLocation, create: boolean, now: () => number = Date.now): Promise<Admin> {
    return new Admin(await (create ? openStore(location) : openExistingStore(location)), location, now);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store[Symbol.asyncDispose]();
  }

  /** @throws option-invalid, account-exists, password-invalid */
  async addAccount(email: string, password: string, name = ""): Promise<Account> {
    checkEmail(email);
    checkPersonName(name);
    if (await this.store.accountByEmail(email)) throw createError("account-exists", { store: this.place, email });
    const passwordHash = await hashValidPassword(password, email);
    const account = await createAccount(this.store, { email, name, passwordHash, now: this.now(), address: null });
    if (account === null) throw createError("account-exists", { store: this.place, email });
    return account;
  }

  /** By creation time. */
  async accounts(): Promise<readonly Account[]> {
    return (await this.store.accounts()).toSorted((one, other) => one.created - other.created);
  }

  /** Ends all sessions of the account; its credentials stay valid. @throws account-unknown, password-invalid */
  async setPassword(email: string, password: string): Promise<void> {
    const account = await this.account(email);
    const passwordHash = await hashValidPassword(password, account.email);
    await changePassword(this.store, { account: account.id, passwordHash, now: this.now(), address: null });
  }

  /** Sets the name that other accounts see; an empty name removes it. @throws option-invalid, account-unknown */
  async setName(email: string, name: string): Promise<void> {
    checkPersonName(name);
    const { id: account } = await this.account(email);
    await changeAccountName(this.store, { account, name, now: this.now(), address: null });
  }

  /** @returns the id of the map. @throws option-invalid, account-unknown */
  async addMap(name: string, owner: string, hidden: boolean): Promise<string> {
    checkName("NAME", name);
    const { id: account } = await this.account(owner);
    // Null is only returned at a limit.
    return (await createMap(this.store, { name, private: hidden }, this.auditContext(account)))!;
  }

  /** All maps, or those of one account, by name. @throws account-unknown */
  async maps(owner: string | null): Promise<readonly StoredMap[]> {
    const accounts = owner === null ? await this.store.accounts() : [await this.account(owner)];
    const maps: StoredMap[] = [];
    for (const { id } of accounts) maps.push(...(await this.store.maps({ account: id, scope: "own" })));
    return maps.sort((one, other) => compareText(one.name, other.name) || compareText(one.id, other.id));
  }

  /**
   * @param withFeatures whether a map with features may be deleted
   * @throws map-unknown, guard-map
   */
  async removeMap(id: string, withFeatures: boolean): Promise<RemovedMap> {
    const map = isUuid(id) ? await this.store.map(id.toLowerCase()) : null;
    if (!map) throw createError("map-unknown", { store: this.place, map: id });
    const { name, features, owner } = map;
    if (features > 0 && !withFeatures) throw createError("guard-map", { map: id, features });
    if (!(await deleteMap(this.store, map, this.auditContext(owner))))
      throw createError("map-unknown", { store: this.place, map: id });
    return { name, features };
  }

  /** @throws option-invalid, account-unknown */
  async addCredential(owner: string, name: string): Promise<NewCredential> {
    checkName("--name", name);
    const { id: account } = await this.account(owner);
    const created = await createCredential(this.store, { account, name, now: this.now(), address: null });
    return { clientId: created.credential.clientId, clientSecret: created.clientSecret };
  }

  /** All credentials, or those of one account, newest first. @throws account-unknown */
  async credentials(owner: string | null): Promise<readonly (Credential & { readonly email: string })[]> {
    const accounts = owner === null ? await this.store.accounts() : [await this.account(owner)];
    const credentials: (Credential & { readonly email: string })[] = [];
    for (const { id, email } of accounts) {
      const own = await this.store.credentials(id);
      credentials.push(...own.map((credential) => ({ ...credential, email })));
    }
    return credentials.sort((one, other) => other.created - one.created);
  }

  /** Revokes a credential and its tokens. Returns false if it is already revoked. @throws credential-unknown */
  async revokeCredential(clientId: string): Promise<boolean> {
    const credential = await this.store.credentialByClientId(clientId);
    if (!credential) throw createError("credential-unknown", { store: this.place, client: clientId });
    return revokeCredential(this.store, credential, { now: this.now(), address: null });
  }

  private async account(email: string): Promise<Account> {
    const account = await this.store.accountByEmail(email);
    if (account) return account;
    const known = (await this.store.accounts()).map((one) => one.email);
    throw createError("account-unknown", { store: this.place, email, known });
  }

  /** Records the account as the actor. The address is null because the command runs on this machine. */
  private auditContext(account: string): AuditContext {
    return { account, now: this.now(), address: null };
  }
}

const compareText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** @throws option-invalid */
function checkEmail(email: string): void {
  if (isEmail(email)) return;
  throw createError("option-invalid", {
    option: "EMAIL",
    value: email,
    expected: "an email address like name@example.org",
  });
}

/** @throws option-invalid */
function checkName(option: string, name: string): void {
  if (Check(MapName, name)) return;
  throw createError("option-invalid", {
    option,
    value: name,
    expected: "a name of 1 to 200 characters in one line, without spaces around it",
  });
}

/** The name is optional. @throws option-invalid */
function checkPersonName(name: string): void {
  if (name !== "") checkName("--name", name);
}

/** @throws password-invalid */
async function hashValidPassword(password: string, email: string): Promise<string> {
  const reason = findPasswordProblem(password, email);
  if (reason !== null)
    throw createError("password-invalid", { reason: reason.replace(/^./, (first) => first.toLowerCase()) });
  return hashPassword(password);
}
