// Package load measures what queries cost each slice. Reports of slaves go into a Table, which averages
// them; its snapshots are the Loads that strategies see. The functions of an Input add up the load of shards
// (OfShards), slices (OfSlices) and items (OfItems), and return how even it is (Evenness) and what no
// placement of these items can beat (LowerBound, LeastMove).
package load
