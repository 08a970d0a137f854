package distributor

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"adshard/backend"
	"adshard/backend/nodedata"
	"adshard/barrels"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search/words"
)

// nodeData is the content of a bucket.
type nodeData struct {
	*pb.NodeData
	parts map[uint64][][]byte // the parts of groups that come in parts, by key; each part is an encoded pb.PartResponse
}

func newNodeData(languages words.Languages) *nodeData {
	return &nodeData{NodeData: &pb.NodeData{Builder: nodedata.VersionIn(languages), Words: languages.Version()}, parts: make(map[uint64][][]byte)}
}

func (d *nodeData) add(c *cutItem) {
	d.Items = append(d.Items, c.Item)
	if c.parts != nil {
		d.parts[c.Group.Key] = c.parts
	}
}

// part returns a part of this version of a group. The result is false if the bucket does not have
// it.
func (d *nodeData) part(key, version uint64, part uint32) ([]byte, bool) {
	list := d.parts[key]
	same := slices.ContainsFunc(d.Items, func(it *pb.Item) bool { return it.Group.Key == key && it.Group.Version == version })
	if !same || int64(part) >= int64(len(list)) {
		return nil, false
	}
	return list[part], true
}

// cutItem is a group with its keywords. If the group is larger than a bucket, its keywords are in
// parts, which are built and encoded one after the other.
type cutItem struct {
	*pb.Item
	parts [][]byte

	limit, bytes int
	list         []*pb.Keyword
}

// stretch is the number of keywords that are built at a time.
const stretch = 1 << 12

// cut builds a group; `limit` bounds a bucket, in bytes.
func cut(b *nodedata.Builder, it *backend.Item, campaign *backend.Campaign, limit int) (*cutItem, error) {
	item, err := b.Group(it)
	if err != nil {
		return nil, err
	}
	c := &cutItem{Item: item, limit: limit}
	for some := range slices.Chunk(it.Keywords, stretch) {
		list, err := b.Keywords(it, some, campaign)
		if err != nil {
			return nil, err
		}
		if err := c.addKeywords(list); err != nil {
			return nil, err
		}
	}
	if c.parts == nil {
		c.Keywords = c.list
		return c, nil
	}
	err = c.end()
	c.Parts = uint32(len(c.parts))
	return c, err
}

func (c *cutItem) addKeywords(list []*pb.Keyword) error {
	for _, k := range list {
		size := proto.Size(k) + 4
		if len(c.list) > 0 && c.bytes+size > c.limit {
			if err := c.end(); err != nil {
				return err
			}
		}
		c.list = append(c.list, k)
		c.bytes += size
	}
	return nil
}

// end encodes the keywords collected so far as a part.
func (c *cutItem) end() error {
	raw, err := proto.Marshal(&pb.PartResponse{Keywords: c.list})
	c.parts = append(c.parts, raw)
	clear(c.list)
	c.list, c.bytes = c.list[:0], 0
	return err
}

// size returns the approximate size of the group in bytes.
func (c *cutItem) size() int {
	size := proto.Size(c.Item) + 4
	for _, p := range c.parts {
		size += len(p)
	}
	return size
}

// understands returns an error if a slave's program would misread the data, because its version is
// too old or because it hashes words differently.
func (d *Distributor) understands(version int, ofWords, slave string, data *pb.NodeData) error {
	const op = "distributor: pull"
	if err := wire.AtLeast(op, "slave "+slave, version, wire.VersionData); err != nil {
		return err
	}
	if barrels.Hashed(data) {
		return wire.SameWords(op, "slave "+slave, ofWords, d.cfg.Languages)
	}
	return nil
}
