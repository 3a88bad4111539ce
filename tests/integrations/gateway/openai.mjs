// Talks through the npm client of OpenAI: streamed, whole, and a stream that is broken off.
import { createRequire } from "node:module";
const require = createRequire(process.argv[3] + "/");
const OpenAI = require("openai").default;

const client = new OpenAI({ apiKey: "k", baseURL: process.argv[2] + "/v1", maxRetries: 0 });
const ask = { model: "m", messages: [{ role: "user", content: "hi" }] };
const shown = {};

const whole = await client.chat.completions.create(ask);
shown.whole = whole.choices[0].message.content;

shown.streamed = "";
for await (const chunk of await client.chat.completions.create({ ...ask, stream: true })) {
  shown.streamed += chunk.choices[0]?.delta?.content ?? "";
}

const helper = client.chat.completions.stream(ask);
shown.helper = (await helper.finalChatCompletion()).choices[0].message.content;

const response = client.responses.stream({ model: "m", input: "hi" });
shown.response = (await response.finalResponse()).output_text;

try {
  shown.partial = "";
  for await (const chunk of await client.chat.completions.create({ ...ask, model: "cut", stream: true })) {
    shown.partial += chunk.choices[0]?.delta?.content ?? "";
  }
} catch (error) {
  shown.error = error instanceof OpenAI.APIError;
}
console.log(JSON.stringify(shown));
