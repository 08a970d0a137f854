// Package token makes and checks event tokens. A token is a signed description of a served ad: an
// impression or click that returns it proves which ad was served, where, when and at which price.
//
// Anyone who has a token can read it; only holders of the keys can make or change one. It is a
// payload with the first 16 bytes of its HMAC-SHA-256, in base64url. A token has one text: other
// spellings are refused.
//
// The payload, in order: version, 1 (1 byte); number of the key, and when the ad was served in ms
// since 1970 (varints); nonce of the answer (8 bytes); position (1); ids of advertiser, campaign,
// keyword and ad, price in micros (varints); hash of the query's normalised words, at most 32 (8).
// Varints are those of Protocol Buffers, in shortest form; fixed numbers are big-endian.
//
// Goals: some hundred nanoseconds a token, no state but the keys. Non-goals: secrecy, and whether
// an event counts.
package token
