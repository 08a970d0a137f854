package barrels

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"
)

// A page holds up to pageKeywords keyword records of one group with the
// anchors chosen for them, by rising keyword id:
//
//	count      uint16
//	count ×    { id uint64, end uint32 }   end: of the record, from the first's start
//	count ×    { anchors uint8, anchors × term uint64, pb.Keyword }
//	format     uint8
//	checksum   xxh64 of all before it
//
// Numbers are little-endian. Records of a group in one value cost one read
// and one write where single records would cost one each.
const pageKeywords = 64

const (
	pageFormat = 1
	pageHead   = 2
	pageSlot   = 12
	pageTail   = 9
)

var errPage = errors.New("barrels: damaged page of keywords")

// page reads a page in place.
type page struct {
	slots   []byte
	records []byte
}

// pageEntry is one keyword of a page; its bytes are the page's.
type pageEntry struct {
	id      uint64
	anchors []byte // 8 bytes each
	record  []byte // pb.Keyword
}

func openPage(value []byte) (page, error) {
	n := len(value) - pageTail
	if n < pageHead || value[n] != pageFormat ||
		xxhash.Sum64(value[:n+1]) != binary.LittleEndian.Uint64(value[n+1:]) {
		return page{}, errPage
	}
	head := pageHead + pageSlot*int(binary.LittleEndian.Uint16(value))
	if head > n {
		return page{}, errPage
	}
	return page{slots: value[pageHead:head], records: value[head:n]}, nil
}

func (p page) len() int { return len(p.slots) / pageSlot }

func (p page) id(i int) uint64 { return binary.LittleEndian.Uint64(p.slots[i*pageSlot:]) }

func (p page) end(i int) int {
	if i < 0 {
		return 0
	}
	return int(binary.LittleEndian.Uint32(p.slots[i*pageSlot+8:]))
}

func (p page) entry(i int) (pageEntry, error) {
	from, to := p.end(i-1), p.end(i)
	if from >= to || to > len(p.records) {
		return pageEntry{}, errPage
	}
	r := p.records[from:to]
	n := 1 + 8*int(r[0])
	if n > len(r) {
		return pageEntry{}, errPage
	}
	return pageEntry{id: p.id(i), anchors: r[1:n], record: r[n:]}, nil
}

// find returns the index of a keyword, −1 when it is not there.
func (p page) find(id uint64) int {
	lo, hi := 0, p.len()
	for lo < hi {
		if mid := (lo + hi) / 2; p.id(mid) < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < p.len() && p.id(lo) == id {
		return lo
	}
	return -1
}

func (e pageEntry) anchor(i int) uint64 { return binary.LittleEndian.Uint64(e.anchors[8*i:]) }

func (e pageEntry) anchorCount() int { return len(e.anchors) / 8 }

// appendPage writes a page of these keywords.
func appendPage(dst []byte, list []*keyword) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(list)))
	end := 0
	for _, k := range list {
		end += 1 + 8*len(k.anchors) + len(k.record)
		dst = binary.LittleEndian.AppendUint64(dst, k.id)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(end))
	}
	for _, k := range list {
		dst = append(dst, byte(len(k.anchors)))
		for _, a := range k.anchors {
			dst = binary.LittleEndian.AppendUint64(dst, a)
		}
		dst = append(dst, k.record...)
	}
	dst = append(dst, pageFormat)
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst[start:]))
}
