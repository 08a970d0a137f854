package index

import (
	"encoding/binary"

	"google.golang.org/protobuf/proto"

	"adshard/barrels/kv"
	"adshard/barrels/record"
)

// PutMessage writes a message of the family Meta. It must be possible to marshal the message, as it
// is for one that was cloned or read.
func PutMessage(b *kv.Batch, key []byte, m proto.Message) {
	b.PutFunc(kv.Meta, key, func(dst []byte) []byte {
		out, err := record.Marshal.MarshalAppend(dst, m)
		if err != nil {
			return dst
		}
		return out
	})
}

// PutBuilder writes the version of the code that built the store's data.
func PutBuilder(b *kv.Batch, version uint32) {
	b.PutFunc(kv.Meta, kv.MetaBuilder, func(dst []byte) []byte { return binary.LittleEndian.AppendUint32(dst, version) })
}

// MixBuilders returns the version of a store's data after data of another version are added.
// Version 0 means data that name no version, which is the first version.
func MixBuilders(stored, version uint32) uint32 {
	if version == 0 {
		version = FirstBuilder
	}
	switch stored {
	case version, AnyBuilder:
		return version
	}
	return MixedBuilders
}
