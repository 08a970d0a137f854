// Package token makes and checks event tokens. A token is a signed description of a served ad: an
// impression or click that carries it proves which ad was served, where, when and at which price.
//
// Anyone who has a token can read it, but only holders of the keys can make or change one. A token
// is a payload followed by the first 16 bytes of its HMAC-SHA-256, in base64url. Each token has
// exactly one text: other spellings are rejected.
//
// The payload has, in order: the version, 1 (1 byte); the number of the key, and the time when the
// ad was served in ms since 1970 (varints); the nonce of the answer (8 bytes); the position (1
// byte); the ids of the advertiser, campaign, keyword and ad, and the price in micros (varints); a
// hash of the normalised words of the query (8 bytes). Varints are as in Protocol Buffers, in
// their shortest form; fixed-size numbers are big-endian.
//
// Goals: some hundred nanoseconds per token, and no state but the keys. Non-goals: secrecy;
// whether an event counts.
package token
