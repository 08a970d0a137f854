package barrels

import (
	"adshard/barrels/index"
	"adshard/barrels/record"
)

// items returns what searches would read of a changed group, and its approximate size. ok is false
// if the group cannot be encoded.
func (g *groupChange) items() (items *index.Group, size int, ok bool) {
	stored, err := record.Marshal.MarshalAppend(nil, g.item.Group)
	if err != nil {
		return nil, 0, false
	}
	data, err := record.ReadGroup(stored)
	if err != nil {
		return nil, 0, false
	}
	items = &index.Group{Group: data}
	var texts index.TextsBuilder
	for _, k := range g.keywords {
		items.SetURL(k.id, k.pb.FinalUrl)
		texts.Add(k.id, []byte(k.pb.Text))
	}
	items.Texts = texts.Texts()
	return items, index.GroupBytes(len(stored), items), true
}
