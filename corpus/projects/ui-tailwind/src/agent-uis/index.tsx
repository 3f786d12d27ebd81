import WeatherCard from "./weather-card";

export default { weather: WeatherCard };
