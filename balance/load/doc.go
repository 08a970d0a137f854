// Package load knows what queries cost each slice. Reports of slaves go into a Table, which averages
// them; its snapshots are the Loads that strategies see. The functions of an Input sum up what
// lies on shards (OfShards), slices (OfSlices) and items (OfItems), how even that is (Evenness), and what no
// placement of these items can beat (LowerBound, LeastMove).
package load
