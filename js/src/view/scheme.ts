/**
 * Light or dark, from the luminance of what is really behind the view (theme names lie), and a fall-back to our own
 * colours where a host's variable isn't a colour: some hosts store bare channels such as "0 0% 100%".
 */

import { atEnd } from "../core/ending.ts";
import { on, setAttribute } from "./dom.ts";

const HOST_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  "--evo-bg": ["--jp-layout-color1", "--vscode-editor-background", "--background"],
  "--evo-fg": ["--jp-ui-font-color0", "--vscode-editor-foreground", "--foreground"],
};
const OWN = {
  light: { "--evo-bg": "#ffffff", "--evo-fg": "#16191d" },
  dark: { "--evo-bg": "#16181c", "--evo-fg": "#eceef1" },
} as const;
type Rgb = readonly [number, number, number];
const LEAST_CONTRAST = 4.5;

/** Keeps `root` in the scheme of its host for as long as `signal` lives. */
export function followScheme(root: HTMLElement, signal: AbortSignal): void {
  const update = () => applyScheme(root);
  const observer = new MutationObserver(update);
  const themed = { attributes: true, attributeFilter: ["class", "style", "data-jp-theme-light", "data-jp-theme-name"] };
  observer.observe(document.documentElement, themed);
  if (document.body !== null) observer.observe(document.body, themed);
  // A theme's style sheet arrives after its name.
  observer.observe(document.head, { childList: true });
  on(document.head, "load", update, signal, true);
  const media = matchMedia("(prefers-color-scheme: dark)");
  on(media, "change", update, signal);
  atEnd(signal, () => observer.disconnect());
  update();
}

export function applyScheme(root: HTMLElement): void {
  const style = getComputedStyle(root.parentElement ?? root);
  const background = hostColour(style, "--evo-bg") ?? backdrop(root.parentElement);
  const scheme = luminance(background) < 0.35 ? "dark" : "light";
  setAttribute(root, "data-evo-scheme", scheme);
  const text = hostColour(style, "--evo-fg");
  const known = hostColour(style, "--evo-bg") !== null && text !== null && contrast(background, text) >= LEAST_CONTRAST;
  for (const [name, value] of Object.entries(OWN[scheme])) {
    if (known) root.style.removeProperty(name);
    else root.style.setProperty(name, value);
  }
}

/** The host's colour for one of our two, if the first variable that the host sets is a colour. */
function hostColour(style: CSSStyleDeclaration, name: string): Rgb | null {
  for (const variable of HOST_VARIABLES[name] ?? []) {
    const value = style.getPropertyValue(variable).trim();
    if (value !== "") return parseColour(value);
  }
  return null;
}

/** The first ground behind the element that isn't transparent; white where there is none, as browsers paint. */
function backdrop(element: Element | null): Rgb {
  for (let at = element; at !== null; at = at.parentElement) {
    const colour = parseColour(getComputedStyle(at).backgroundColor);
    if (colour !== null) return colour;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches && usesDarkCanvas() ? [22, 24, 28] : [255, 255, 255];
}

function usesDarkCanvas(): boolean {
  return getComputedStyle(document.documentElement).colorScheme.includes("dark");
}

/** Any CSS colour as channels, null for what isn't one or is see-through. The browser itself is the parser. */
export function parseColour(text: string): Rgb | null {
  if (!CSS.supports("color", text)) return null;
  const probe = document.createElement("span");
  // Mixed with itself it comes back in sRGB, whatever colour space the host used.
  probe.style.color = text;
  probe.style.color = `color-mix(in srgb, ${text}, ${text})`;
  probe.style.display = "none";
  document.body.append(probe);
  const channels = channelsOf(getComputedStyle(probe).color);
  probe.remove();
  return channels;
}

function channelsOf(computed: string): Rgb | null {
  const scale = computed.startsWith("color(") ? 255 : 1;
  const numbers = computed.match(/-?[\d.]+(e-?\d+)?%?/g)?.map((part) => Number.parseFloat(part)) ?? [];
  const [r, g, b, alpha = 1] = numbers;
  if (r === undefined || g === undefined || b === undefined || alpha < 0.5) return null;
  return [r * scale, g * scale, b * scale];
}

/** Relative luminance as WCAG defines it, 0 black to 1 white. */
export function luminance(colour: Rgb): number {
  const [r, g, b] = colour.map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (r ?? 0) + 0.7152 * (g ?? 0) + 0.0722 * (b ?? 0);
}

export function contrast(a: Rgb, b: Rgb): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}
