package circle

const ground = "ground"
