package main

import "strings"

// known has phrases of the text of each licence, by its SPDX identifier, in lower case and with single spaces. `all`
// has phrases that the text must contain, and `none` phrases that only other licences contain.
var known = []struct {
	id        string
	all, none []string
}{
	{id: "Apache-2.0", all: []string{"apache license, version 2.0"}},
	{id: "Apache-2.0", all: []string{"apache license version 2.0, january 2004"}},
	{id: "BSD-2-Clause", all: []string{redistribution}, none: []string{"endorse or promote products", "advertising materials"}},
	{id: "BSD-3-Clause", all: []string{redistribution, "endorse or promote products"}, none: []string{"advertising materials"}},
	{id: "ISC", all: []string{"permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice"}},
	{id: "ISC", all: []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice"}},
	{id: "MIT", all: []string{"permission is hereby granted, free of charge, to any person obtaining a copy", "the above copyright notice and this permission notice shall be included"}},
	{id: "MPL-2.0", all: []string{"mozilla public license version 2.0"}},
	{id: "blessing", all: []string{"sqlite is public domain"}},
}

const redistribution = "redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met"

// beside lists files that only look like licences, by module and name.
var beside = map[string]string{
	"modernc.org/memory LICENSE-LOGO": "where its logo is from, which is not in programs",
}

// identify returns the SPDX identifiers of the licences in a text, or none if it contains no known licence.
func identify(body string) (ids []string) {
	plain := strings.ToLower(strings.Join(strings.Fields(body), " "))
	for _, k := range known {
		if hasAll(plain, k.all) && !hasAny(plain, k.none) {
			ids = append(ids, k.id)
		}
	}
	return ids
}

func hasAll(text string, phrases []string) bool {
	for _, p := range phrases {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}

func hasAny(text string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
