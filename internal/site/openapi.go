package main

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// node is a value of the OpenAPI document, or nil if there is none. Its keys keep their order.
type node struct {
	*yaml.Node
	root *yaml.Node
}

type pair struct {
	key   string
	value *node
}

func readNode(text []byte) (*node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) != 1 {
		return nil, fmt.Errorf("the document is empty")
	}
	return &node{doc.Content[0], doc.Content[0]}, nil
}

// pairs returns the keys and values of a mapping.
func (n *node) pairs() (list []pair) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		v := n.Content[i+1]
		if v.Kind == yaml.AliasNode {
			v = v.Alias
		}
		list = append(list, pair{n.Content[i].Value, &node{v, n.root}})
	}
	return list
}

// at returns the value to which a path of keys leads.
func (n *node) at(keys ...string) *node {
	for _, key := range keys {
		var next *node
		for _, p := range n.pairs() {
			if p.key == key {
				next = p.value
			}
		}
		n = next
	}
	return n
}

// list returns the items of a sequence.
func (n *node) list() (out []*node) {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	for _, c := range n.Content {
		out = append(out, &node{c, n.root})
	}
	return out
}

// text returns the text of a scalar.
func (n *node) text() string {
	if n == nil {
		return ""
	}
	return n.Value
}

// name returns the name of the component to which a reference leads, or "" if the node is not a reference.
func (n *node) name() string {
	ref := n.at("$ref").text()
	return ref[strings.LastIndexByte(ref, '/')+1:]
}

// followed returns the node to which a reference leads, or the node itself if it is not a reference.
func (n *node) followed() *node {
	ref := n.at("$ref").text()
	if ref == "" {
		return n
	}
	return (&node{n.root, n.root}).at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
}

// shape returns the type of a schema in words, with a link if the schema has a name.
func (n *node) shape() string {
	if name := n.name(); name != "" {
		return fmt.Sprintf("[%s](#%s)", name, slug(name))
	}
	if values := n.at("enum").list(); len(values) > 0 {
		return said(values, ", ")
	}
	if fixed := n.at("const"); fixed != nil {
		return "`" + fixed.text() + "`"
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		if several := n.at(key).list(); len(several) > 0 {
			var names []string
			for _, s := range several {
				names = append(names, s.shape())
			}
			return strings.Join(names, map[string]string{"oneOf": " or ", "anyOf": " or ", "allOf": " and "}[key])
		}
	}
	kind := n.at("type").text()
	if kinds := n.at("type").list(); len(kinds) > 0 {
		var names []string
		for _, k := range kinds {
			names = append(names, k.text())
		}
		kind = strings.Join(names, " or ")
	}
	switch {
	case strings.HasPrefix(kind, "array"):
		kind = "list of " + n.at("items").shape() + strings.TrimPrefix(kind, "array")
	case strings.HasPrefix(kind, "object") && len(n.at("additionalProperties").pairs()) > 0:
		kind = "map to " + n.at("additionalProperties").shape()
	case kind == "":
		kind = "any"
	}
	return kind + n.limits()
}

// limits returns the limits of a schema in words.
func (n *node) limits() string {
	var out string
	least, most := n.at("minimum").text(), n.at("maximum").text()
	switch {
	case least != "" && most != "":
		out += fmt.Sprintf(", %s to %s", least, most)
	case least != "":
		out += ", at least " + least
	case most != "":
		out += ", at most " + most
	}
	for _, l := range []struct{ key, words string }{
		{"multipleOf", ", a multiple of %s"}, {"maxLength", ", at most %s characters"}, {"x-max-bytes", ", at most %s bytes"},
		{"maxItems", ", at most %s"}, {"pattern", ", matches `%s`"}, {"default", "; default `%s`"},
	} {
		if v := n.at(l.key).text(); v != "" {
			out += fmt.Sprintf(l.words, v)
		}
	}
	return out
}

func said(values []*node, between string) string {
	var out []string
	for _, v := range values {
		out = append(out, "`"+v.text()+"`")
	}
	return strings.Join(out, between)
}
