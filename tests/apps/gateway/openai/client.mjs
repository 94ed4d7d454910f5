// What a program with OpenAI's package sees of a gateway with a mock.
import assert from "node:assert";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "none", maxRetries: 0 });
const messages = [{ role: "user", content: "hello" }];

const whole = await client.chat.completions.create({ model: "mock", messages });
assert.match(whole.choices[0].message.content, /^A pit saw/);
assert.strictEqual(whole.usage.completion_tokens, 20);

let text = "";
let usage = null;
const stream = await client.chat.completions.create({
  model: "mock", messages, stream: true, max_tokens: 3, stream_options: { include_usage: true },
});
for await (const chunk of stream) {
  text += chunk.choices[0]?.delta?.content ?? "";
  usage = chunk.usage ?? usage;
}
assert.strictEqual(text, "A pit saw ");
assert.strictEqual(usage.completion_tokens, 3);

const aborted = await client.chat.completions.create({ model: "mock", messages, stream: true });
for await (const chunk of aborted) {
  assert.ok(chunk.id);
  break; // which aborts
}

const old = await client.completions.create({ model: "mock", prompt: "hello", max_tokens: 2 });
assert.strictEqual(old.choices[0].text, "A pit ");

const vectors = await client.embeddings.create({ model: "mock", input: ["a", "b"] });
assert.strictEqual(vectors.data.length, 2);
assert.strictEqual(vectors.data[0].embedding.length, 8);
assert.ok(vectors.data[0].embedding.every((one) => one >= -1 && one <= 1));

const models = await client.models.list();
assert.deepStrictEqual(models.data.map((one) => one.id), ["mock"]);

await assert.rejects(client.chat.completions.create({ model: "unknown", messages }), OpenAI.NotFoundError);
console.log("all as it should be");
