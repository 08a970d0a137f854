package main

import _ "adshard/barrels"

func main() {}
