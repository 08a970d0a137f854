// Package token makes and checks event tokens. A token is a signed description of a served ad: an
// impression or click that returns it proves which ad was served, where, when and at which price.
//
// Anyone who has a token can read it; only holders of the keys can make or change one. It is a
// payload with the first 16 bytes of its HMAC-SHA-256, in base64url. A token has one text: other
// spellings are refused. docs/events.md has the bytes and the reasons.
//
// Goals: some hundred nanoseconds a token, no state but the keys. Non-goals: secrecy, and whether
// an event counts.
package token
