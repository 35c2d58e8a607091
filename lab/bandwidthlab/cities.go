package bandwidthlab

import "time"

// cityNames are places of data centres around the world, each that of one region of a large
// operator.
var cityNames = []string{
	"California", "Virginia", "Toronto", "São Paulo", "London", "Frankfurt", "Johannesburg",
	"Dubai", "Pune", "Singapore", "Tokyo", "Sydney"}

// cityTrips are round trips between them in milliseconds, above the diagonal.
//
// Source: Microsoft, "Azure network round-trip latency statistics", the 95th percentile of 30 days
// to July 30, 2026, for the regions West US, East US, Canada Central, Brazil South, UK South,
// Germany West Central, South Africa North, UAE North, Central India, Southeast Asia, Japan East
// and Australia East. Each is the mean of the two directions, which differ by at most 21 ms. They
// are times on an operator's own network, which is what the paper assumes between mirrors; the last
// mile to a player comes on top.
var cityTrips = [][]float64{
	{73, 71, 171, 144, 158, 279, 253, 224, 172, 110, 142}, // California
	{22, 120, 80, 97, 226, 191, 216, 229, 165, 207},       // Virginia
	{133, 84, 101, 236, 187, 216, 226, 165, 207},          // Toronto
	{184, 200, 327, 291, 320, 337, 270, 298},              // São Paulo
	{20, 169, 122, 151, 183, 236, 277},                    // London
	{173, 122, 151, 179, 248, 291},                        // Frankfurt
	{105, 134, 201, 255, 348},                             // Johannesburg
	{35, 89, 155, 181},                                    // Dubai
	{59, 129, 152},                                        // Pune
	{74, 98},                                              // Singapore
	{105},                                                 // Tokyo
}

// Cities gives the delays between twelve cities.
func Cities() *Delays {
	d := &Delays{Places: append([]string(nil), cityNames...)}
	n := len(d.Places)
	for range n {
		d.Way = append(d.Way, make([]time.Duration, n))
	}
	for i, row := range cityTrips {
		for j, ms := range row {
			way := time.Duration(ms / 2 * float64(time.Millisecond))
			d.Way[i][i+1+j], d.Way[i+1+j][i] = way, way
		}
	}
	return d
}
