// Package record reads and writes the records of a store: groups, keywords, campaigns and
// advertisers as protocol buffers (schema/proto/adshard/v1/records.proto). It reads single fields
// where decoding a whole message would cost too much, checks whether a store can accept records,
// and computes what certificates sum.
//
// Non-goals: keys and families (barrels/kv), pages of keywords (barrels/page).
package record
