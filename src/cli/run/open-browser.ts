import { spawn } from "node:child_process";

/** The program of each system that opens an address, and its arguments before the address. */
const programs: Readonly<Record<string, readonly [program: string, ...before: string[]]>> = {
  darwin: ["open"],
  // `start` belongs to a shell, which would interpret characters of the address; this program does not.
  win32: ["rundll32.exe", "url.dll,FileProtocolHandler"],
};

/** Milliseconds in which a program that cannot open an address usually ends. */
const patience = 1500;

/** Whether a browser was asked to open the address. A machine without one is no error. */
export function openBrowser(url: string): Promise<boolean> {
  const isLocal = process.platform === "darwin" || process.platform === "win32";
  // Without a display there is no browser, as over ssh.
  if (!isLocal && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY && !process.env.BROWSER)
    return Promise.resolve(false);
  const [program, ...before] = programs[process.platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const child = spawn(program, [...before, url], { stdio: "ignore", detached: true });
    const timer = setTimeout(() => resolve(true), patience);
    const settle = (isOpen: boolean) => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.once("error", () => settle(false));
    child.once("exit", (status) => settle(status === 0));
    child.unref();
  });
}
