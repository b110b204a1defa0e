// Prints how many tokens the JSON on standard input is, as o200k_base counts them.
import { readFileSync } from "node:fs";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";

console.log(new Tiktoken(o200k).encode(readFileSync(0, "utf8")).length);
