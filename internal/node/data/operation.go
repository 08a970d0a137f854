package data

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"adshard/backend"
	"adshard/fault"
	"adshard/ingest"
	"adshard/internal/node/httpapi/api"
)

// Verb says what an operation does.
type Verb string

// The verbs.
const (
	Create Verb = "create"
	Update Verb = "update"
	Remove Verb = "remove"
)

// Operation is one change.
type Operation struct {
	Verb Verb
	// Key names the entity. For Create it has only the owner, including the owner of a campaign or
	// group.
	Key
	// IfMatch is the ETag that the entity must have; "" means any.
	IfMatch string
	// Settings are the settings for Create and Update.
	Settings *ingest.Settings
}

// Bounds of a batch.
const (
	MaxOperations = 1000
	MaxBatch      = 1 << 20 // bytes of its body
)

// member is a field of an object.
type member struct {
	name string
	raw  json.RawMessage
}

// object reads a JSON object into its fields. It leaves their values to be checked by their readers.
func object(text []byte) (out []member, err error) {
	err = api.FromObject(text, func(d *json.Decoder, name string) error {
		m := member{name: name}
		if d.Decode(&m.raw) != nil {
			return fault.Field(op, "", "the body is not JSON")
		}
		out = append(out, m)
		return nil
	})
	return out, err
}

// ParseOperation completes an operation with the body of a POST or PATCH. Errors: fault.Invalid.
func ParseOperation(o Operation, body []byte) (*Operation, error) {
	members, err := object(body)
	if err != nil {
		return nil, err
	}
	return &o, o.read(members)
}

// ParseBatch reads the body of a batch. Errors: fault.Invalid; its field begins with the operation's
// number.
func ParseBatch(body []byte) ([]*Operation, error) {
	members, err := object(body)
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	for _, m := range members {
		if m.name != "operations" {
			return nil, fault.Field(op, m.name, "unknown field %q; a batch has operations", m.name)
		}
		if json.Unmarshal(m.raw, &list) != nil {
			return nil, fault.Field(op, m.name, "operations must be a list of objects")
		}
	}
	if len(list) == 0 || len(list) > MaxOperations {
		return nil, fault.Field(op, "operations", "there are %d operations; 1 to %d can be in a batch", len(list), MaxOperations)
	}
	out := make([]*Operation, len(list))
	for i, raw := range list {
		out[i] = &Operation{}
		members, err := object(raw)
		if err == nil {
			members, err = out[i].head(members)
		}
		if err == nil {
			err = out[i].read(members)
		}
		if err != nil {
			return nil, at(i, err)
		}
	}
	return out, nil
}

// at adds to an error the number of the batch's operation that it belongs to.
func at(i int, err error) error {
	name := "operations[" + strconv.Itoa(i) + "]"
	if field := fault.FieldOf(err); field != "" {
		name += "." + field
	}
	return &fault.Error{Kind: fault.KindOf(err), Op: op, Field: name, Err: err}
}

// head reads the fields that only the operations of a batch have, and returns the others.
func (o *Operation) head(members []member) (rest []member, err error) {
	var entity string
	for _, m := range members {
		switch m.name {
		case "op":
			err = text(m, (*string)(&o.Verb))
		case "type":
			err = text(m, &entity)
		case "if_match":
			err = text(m, &o.IfMatch)
		case "id":
			err = id(m, &o.ID)
		default:
			rest = append(rest, m)
		}
		if err != nil {
			return nil, err
		}
	}
	found := false
	for e := range backend.Entities {
		if e.String() == entity {
			o.Type, found = e, true
		}
	}
	switch {
	case !slices.Contains([]Verb{Create, Update, Remove}, o.Verb):
		return nil, fault.Field(op, "op", "op must be create, update or remove")
	case !found:
		return nil, fault.Field(op, "type", "type must be advertiser, campaign, group, keyword, negative or ad")
	case o.Verb == Create && (o.ID != 0 || o.IfMatch != ""):
		return nil, fault.Field(op, "id", "what is created has no id and no if_match yet")
	case o.Verb != Create && o.ID == 0:
		return nil, fault.Field(op, "id", "id is missing: what is to be changed?")
	}
	return rest, nil
}

// read reads the owner from the fields, and checks the other fields.
func (o *Operation) read(members []member) error {
	owners := map[string]*uint64{}
	switch {
	case kindOf[o.Type] == 0:
		owners["group_id"] = &o.Group
		if o.Type == backend.EntityNegative {
			owners["campaign_id"], owners["advertiser_id"] = &o.Campaign, &o.Advertiser
		}
	case o.Verb == Create && o.Type == backend.EntityCampaign:
		owners["advertiser_id"] = &o.Advertiser
	case o.Verb == Create && o.Type == backend.EntityGroup:
		owners["campaign_id"] = &o.Campaign
	}
	var rest []member
	for _, m := range members {
		to, ok := owners[m.name]
		switch {
		case !ok:
			rest = append(rest, m)
		case *to != 0: // from the query of the path
			return fault.Field(op, m.name, "%s is in the address already", m.name)
		default:
			if err := id(m, to); err != nil {
				return err
			}
		}
	}
	if err := o.checkOwner(); err != nil {
		return err
	}
	return o.settings(rest)
}

// checkOwner returns an error unless exactly the required owner is named.
func (o *Operation) checkOwner() error {
	missing := ""
	switch {
	case o.Type == backend.EntityNegative && o.owners() != 1:
		return fault.Field(op, "group_id", "name the group, the campaign or the advertiser that holds the negative, one of them")
	case o.Type == backend.EntityKeyword && o.Group == 0, o.Type == backend.EntityAd && o.Group == 0:
		missing = "group_id"
	case o.Verb == Create && o.Type == backend.EntityCampaign && o.Advertiser == 0:
		missing = "advertiser_id"
	case o.Verb == Create && o.Type == backend.EntityGroup && o.Campaign == 0:
		missing = "campaign_id"
	}
	if missing != "" {
		return fault.Field(op, missing, "%s is missing", missing)
	}
	return nil
}

// owners returns how many owners are named.
func (k *Key) owners() uint64 { return min(k.Group, 1) + min(k.Campaign, 1) + min(k.Advertiser, 1) }

// settings checks the fields of the entity itself.
func (o *Operation) settings(members []member) (err error) {
	keys := ingest.KeyFields(o.Type)
	switch {
	case o.Verb == Remove && len(members) > 0:
		return fault.Field(op, members[0].name, "what is removed has no %q", members[0].name)
	case o.Verb == Remove:
		return nil
	case o.Verb == Update && len(members) == 0:
		return fault.Field(op, "", "nothing is to be changed: name a field")
	}
	var b bytes.Buffer
	b.WriteByte('{')
	if o.Verb == Update {
		b.WriteString(placeholders[o.Type])
	}
	for _, m := range members {
		if o.Verb == Update && slices.Contains(keys, m.name) {
			return fault.Field(op, m.name, "%s cannot be changed: it is what the %v is known by; create another and remove this one", m.name, o.Type)
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(m.name)
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.raw)
	}
	b.WriteByte('}')
	if o.Settings, err = ingest.ParseSettings(o.Type, b.Bytes()); err != nil {
		return err
	}
	if o.Settings.Status(o.Type) == backend.Remove {
		return fault.Field(op, "status", "status must be enabled or paused; removing is an operation of its own")
	}
	return nil
}

// placeholders stand in for the fields that a change lacks but a check of all fields requires.
var placeholders = [backend.Entities]string{
	`"name":"x"`, `"name":"x"`, `"name":"x"`, `"text":"x","match_type":"broad"`, `"text":"x","match_type":"broad"`, `"headlines":["x"]`,
}

func text(m member, to *string) error {
	if m.raw[0] != '"' || json.Unmarshal(m.raw, to) != nil || len(*to) > 64 {
		return fault.Field(op, m.name, "%s must be a string of at most 64 bytes", m.name)
	}
	return nil
}

func id(m member, to *uint64) error {
	n, err := strconv.ParseUint(string(m.raw), 10, 63)
	if err != nil || n == 0 {
		return fault.Field(op, m.name, "%s must be a whole number from 1 to %d", m.name, math.MaxInt64)
	}
	*to = n
	return nil
}
