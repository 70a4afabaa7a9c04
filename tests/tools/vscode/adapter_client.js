// A client of the Debug Adapter Protocol: requests with their answers, and events by name.
"use strict";

const { spawn } = require("node:child_process");

class Client {
  constructor(command, args) {
    this.process = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    this.number = 0;
    this.answers = new Map();
    this.events = [];
    this.waiting = [];
    let bytes = Buffer.alloc(0);
    this.process.stdout.on("data", (more) => {
      bytes = Buffer.concat([bytes, more]);
      for (;;) {
        const end = bytes.indexOf("\r\n\r\n");
        const length = end < 0 ? NaN : Number(/Content-Length: (\d+)/i.exec(bytes.toString("ascii", 0, end))[1]);
        if (end < 0 || bytes.length < end + 4 + length) {
          return;
        }
        this.take(JSON.parse(bytes.toString("utf8", end + 4, end + 4 + length)));
        bytes = bytes.subarray(end + 4 + length);
      }
    });
  }

  take(message) {
    if (message.type === "response") {
      this.answers.get(message.request_seq)(message);
      return;
    }
    this.events.push(message);
    this.waiting = this.waiting.filter(([name, resolve]) => message.event !== name || resolve(message));
  }

  request(command, given = {}) {
    const seq = ++this.number;
    const text = JSON.stringify({ seq, type: "request", command, arguments: given });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    return new Promise((resolve) => this.answers.set(seq, resolve));
  }

  event(name) {
    return new Promise((resolve) => this.waiting.push([name, (message) => (resolve(message), false)]));
  }

  ended() {
    return new Promise((resolve) => this.process.on("exit", resolve));
  }
}

module.exports = { Client };
