// Package token makes and checks event tokens: what an answer says of an ad that it
// serves, signed, so that an impression or click that comes back with it is known to be
// of an ad that was served, where, when and at which price.
//
// A token is read by anybody who has it and changed by nobody: it is a payload with the
// first 16 bytes of its HMAC-SHA-256, in base64url. One text stands for one token: what has
// a second spelling is refused. docs/events.md has the bytes and the reasons.
//
// Goals: some hundred nanoseconds a token, no state but the keys. Non-goals: secrecy,
// and what an event counts for.
package token
