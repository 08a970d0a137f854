package lucene

import (
	"bufio"
	"encoding/binary"
	"errors"
	"os"

	"adshard/bench/layouts"
)

// writeKeywords writes the file that the Java program reads (Keywords.java).
func writeKeywords(name string, set *layouts.Set) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(f, 1<<20)
	raw := binary.BigEndian.AppendUint32(nil, uint32(set.Len()))
	var words []string
	for i := range set.Len() {
		words = words[:0]
		for _, w := range set.Of(i) {
			words = append(words, set.Words[w])
		}
		raw = appendWords(raw, words)
		if _, err := out.Write(raw); err != nil {
			return err
		}
		raw = raw[:0]
	}
	return errors.Join(err, out.Flush())
}

// appendWords appends the number of words, then the length and the bytes of
// each.
func appendWords(to []byte, words []string) []byte {
	to = binary.BigEndian.AppendUint16(to, uint16(len(words)))
	for _, w := range words {
		to = binary.BigEndian.AppendUint16(to, uint16(len(w)))
		to = append(to, w...)
	}
	return to
}
